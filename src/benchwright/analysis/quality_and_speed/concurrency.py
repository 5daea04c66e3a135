"""Accuracy by concurrency: finds runs that differ only in concurrency, and computes the trend over the same
samples.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from benchwright.analysis.comparison.sides import ERROR, Side
from benchwright.analysis.quality_and_speed.records import ConcurrencyRow, ConcurrencyTable, JointView, Trend
from benchwright.analysis.quality_and_speed.views import correct_mask
from benchwright.stats.trend import paired_trend


class TimedSide(NamedTuple):
    """A side of a comparison (one run), with the joint view of its quality and its speed."""

    side: Side
    view: JointView


def concurrency_tables(sides: Sequence[Side], views: Sequence[JointView | None]) -> list[ConcurrencyTable]:
    """Return a table for each set of runs that are known to differ only in concurrency.

    `views` has the joint view of each side, in the order of `sides`.
    """
    sets: dict[Hashable, list[TimedSide]] = {}
    for side, view in zip(sides, views, strict=True):
        if view is not None and view.concurrency is not None:
            sets.setdefault(_identity(side, view), []).append(TimedSide(side, view))
    several = [one for one in sets.values() if len({timed.view.concurrency for timed in one}) > 1]
    return [_table(one) for one in several]


def no_table_reason(views: Sequence[JointView | None], tables: Sequence[ConcurrencyTable]) -> list[str]:
    """Return a sentence with the reason, if concurrencies differ but there is no table. Empty otherwise."""
    known = [view for view in views if view is not None and view.concurrency is not None]
    if tables or len({view.concurrency for view in known}) < 2:
        return []
    return [
        "Accuracy by concurrency is not shown, because the runs also differ in model, data, rules or settings"
    ]


def _identity(side: Side, view: JointView) -> Hashable:
    """Return a key of everything that must be equal for two runs to share a table."""
    facts = side.facts
    return (
        *(facts.kind, facts.subject, facts.model, facts.variant, facts.data_digests, facts.simulated),
        *(facts.protocol, facts.protocol_version, facts.is_streamed, facts.slot, view.score, view.threshold),
        None if facts.grader_fingerprints is None else tuple(sorted(facts.grader_fingerprints.items())),
        tuple(sorted(facts.settings.items())),
    )


def _table(runs: list[TimedSide]) -> ConcurrencyTable:
    runs = sorted(runs, key=lambda timed: timed.view.concurrency or 0)
    first = runs[0].view
    trend = _trend(runs)
    return ConcurrencyTable(
        model=first.model,
        task=first.task,
        score=first.score,
        confidence=first.confidence,
        rows=[_row(timed.view) for timed in runs],
        trend=trend if isinstance(trend, Trend) else None,
        no_trend=trend if isinstance(trend, str) else None,
        simulated=first.simulated,
    )


def _row(view: JointView) -> ConcurrencyRow:
    assert view.concurrency is not None
    return ConcurrencyRow(
        letter=view.letter,
        concurrency=view.concurrency,
        judged=view.judged,
        run=view.run,
        requests=view.requests,
        requests_per_second=view.requests_per_second,
        ttft_p50=view.ttft_p50,
        ttft_p99=view.ttft_p99,
        correct_per_second=view.correct_per_second,
        timings_valid=view.timings_valid,
    )


def _trend(runs: list[TimedSide]) -> Trend | str:
    """Return the trend over the samples that were graded at every concurrency. If there is none, return the reason."""
    levels = sorted({timed.view.concurrency or 0 for timed in runs})
    shares: list[dict[str, float]] = []
    for level in levels:
        outcomes: dict[str, list[bool]] = {}
        for timed in runs:
            if timed.view.concurrency == level:
                _collect(timed, outcomes)
        shares.append({sample: sum(found) / len(found) for sample, found in outcomes.items()})
    common = [sample for sample in shares[0] if all(sample in others for others in shares[1:])]
    if not common:
        return "no sample was judged at every concurrency"
    table = np.array([[share[sample] for share in shares] for sample in common])
    group_of = dict(zip(runs[0].side.trials.samples, runs[0].side.trials.groups, strict=True))
    groups = [group_of[sample] or None for sample in common]
    clusters = groups if len(set(groups)) > 1 else None
    confidence = runs[0].view.confidence
    found = paired_trend(table, np.log2(levels), clusters, confidence=confidence)
    low, high = (None, None) if found.interval is None else found.interval
    return Trend(found.slope, found.n, len(levels), found.test, found.method, low, high, found.p_value)


def _collect(timed: TimedSide, outcomes: dict[str, list[bool]]) -> None:
    """Add the outcomes of a run's own graded trials to `outcomes`: for each sample, a list of right (True) or not."""
    side, effort = timed.side, timed.side.usage
    assert effort is not None
    column = side.trials.scores[timed.view.score]
    decided = ~effort.reused_mask & (column.states != ERROR)
    correct = correct_mask(column, side.pass_threshold)
    for place in np.flatnonzero(decided).tolist():
        if sample := side.trials.samples[place]:
            outcomes.setdefault(sample, []).append(bool(correct[place]))
