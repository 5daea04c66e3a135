"""One run of a report, or one result file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchwright.analysis.comparison.records import ComparedRun
from benchwright.analysis.comparison.sides import ERROR, NO_ANSWER, Side
from benchwright.analysis.report.chosen import at, choose, conversation
from benchwright.analysis.report.columns import ERRORS, Columns, counted, read_columns, request_times
from benchwright.analysis.report.means import Measured, mark, scores_by_latency
from benchwright.analysis.report.provenance import facts_of_file, facts_of_run
from benchwright.analysis.report.records import Conversation, OwnScore, RunPart, Waterfall
from benchwright.analysis.report.times import in_order, over_the_run, slowest, timed_trial
from benchwright.analysis.summary import RunSummary, ScoreSummary, TargetSummary, settling_lines, summary_of
from benchwright.runs.final_trials import FinalTrials
from benchwright.runs.manifest import Manifest, read_manifest
from benchwright.stats.arrays import Vector, exact_mean, exact_std, exact_sum


class Part(NamedTuple):
    """A run as it is shown, and what is put together with other runs: columns, times by kind, facts.

    `directory` is None for a file, of which only what is in it is known; `data` are the digests of the data.
    """

    run: RunPart
    measured: Measured | None
    times: Mapping[str, Vector]
    facts: Mapping[str, str]
    directory: Path | None = None
    slot: str | None = None
    data: tuple[str, ...] | None = None


def run_part(directory: Path, slot: str, run: ComparedRun, most: int) -> Part:
    """One target of a run, with at most so many conversations.

    Raises:
        JournalError: the journal cannot be read.
    """
    manifest, summary = read_manifest(directory), summary_of(directory)
    target = next(one for one in summary.targets if one.slot == slot)
    columns = read_columns(directory, slot)
    measured = Measured(run.letter, run.task, manifest.repeats, columns, _labels(manifest, columns))
    conversations, waterfalls = _looked_at(directory, slot, run.letter, manifest, columns, most)
    part = RunPart(
        letter=run.letter,
        reference=run.reference,
        model=run.model,
        task=run.task,
        source=run.source,
        trials=target.trials,
        statuses=target.statuses,
        scores=target.scores,
        banners=list(_banners(manifest, summary, target, counted(columns))),
        run=manifest.id,
        slot=slot,
        state=summary.state,
        planned=None if summary.planned is None else summary.planned // len(manifest.targets),
        repeats=manifest.repeats,
        reused=target.reused,
        other_roles=target.other_roles,
        requests=target.requests,
        by_latency=list(scores_by_latency(measured)),
        waterfalls=waterfalls,
        conversations=conversations,
        own_score=_own_score(directory, manifest, slot),
    )
    data = tuple(file.xxh3 for file in manifest.data)
    times = request_times(directory, slot)
    return Part(
        part, measured, times, facts_of_run(manifest, slot, summary.found_concurrency), directory, slot, data
    )


def _labels(manifest: Manifest, columns: Columns) -> list[str]:
    if manifest.kind == "benchmark":
        return list(manifest.about["breakdowns"])
    return list(columns.labels)


def _looked_at(
    directory: Path, slot: str, letter: str, manifest: Manifest, columns: Columns, most: int
) -> tuple[list[Conversation], list[Waterfall]]:
    """The chosen conversations and waterfalls, by one more look at the journal."""
    chosen = choose(columns, manifest.pass_threshold, most)
    spread, slow = over_the_run(columns), slowest(columns)
    first = int(columns.began.min()) if columns.began.size else 0
    places = dict.fromkeys([*chosen, *spread, *slow])
    said, timed = {}, {}
    for place, trial in at(iter(FinalTrials(directory, slot)), places, set()):
        timed[place] = timed_trial(trial, first)
        if place in chosen:
            said[place] = conversation(directory, trial, chosen[place])
    waterfalls = [
        Waterfall(letter, words, int(columns.status.size), in_order(wanted, timed))
        for words, wanted in (("evenly spread over the run", spread), ("the slowest", slow))
        if wanted
    ]
    return [said[place] for place in chosen if place in said], waterfalls


def _banners(
    manifest: Manifest, summary: RunSummary, target: TargetSummary, statuses: Mapping[str, int]
) -> Iterator[str]:
    if summary.simulated:
        yield "Simulated: some of these answers are not from a model."
    if not summary.timings_valid:
        lag = summary.lag
        yield (
            f"Timings invalid: client-bound. The client was too busy to time well (loop lag p99 "
            f"{lag.p99 / 1e6:.1f} ms, longest {lag.longest / 1e6:.0f} ms)."
        )
    yield from settling_lines(target.requests.settling_requests, target.requests.total_requests)
    if departures := manifest.about.get("departures"):
        yield _departs("; ".join(departures))
    if summary.state != "finished":
        planned = f" of {summary.planned:,}" if summary.planned is not None else ""
        why = f" {summary.stop_reason}" if summary.stop_reason else ""
        yield f"This run is {summary.state}: {summary.done:,}{planned} trials are done.{why}"
    yield from _failures(sum(statuses.get(str(one), 0) for one in ERRORS), sum(statuses.values()))


def _departs(departures: str) -> str:
    return f"Departs from the protocol, so its scores are not comparable to published ones: {departures}."


def _failures(failed: int, trials: int) -> Iterator[str]:
    if failed:
        yield (
            f"{failed:,} of {trials:,} trials failed ({failed / trials:.1%}). A failure is not a wrong answer: it is "
            "left out of the means of what was scored."
        )


def _own_score(directory: Path, manifest: Manifest, slot: str) -> OwnScore | None:
    if manifest.kind != "pack":
        return None
    from benchwright.analysis.pack_run import kept_pack_run

    kept = kept_pack_run(directory, manifest).scores.get(slot)
    if kept is None:
        return None
    if kept.score is None:
        return OwnScore("none", kept.error or "")
    score = kept.score
    unit = "" if score.total_unit is None else f" {score.total_unit}"
    categories = [
        (
            category.label,
            "–" if category.score is None else f"{category.score:g} {category.unit or ''}".strip(),
            "–" if category.weight is None else f"{category.weight:g}",
        )
        for category in score.categories
    ]
    return OwnScore(f"{score.total_score:g}{unit}", score.summary or "", categories)


def file_part(side: Side, run: ComparedRun) -> Part:
    """A result file, or one model of what `eval -o` wrote."""
    facts, trials = side.facts, side.trials
    n = len(trials.samples)
    first = next(iter(trials.scores.values()), None)
    failed, silent = (0, 0) if first is None else (first.count(ERROR), first.count(NO_ANSWER))
    statuses = {"scored": n - failed - silent, "no_answer": silent, "failed": failed}
    banners = ["From a result file: conversations, waterfalls and breakdowns are only available for runs."]
    if facts.simulated:
        banners.append("Simulated: some of these answers are not from a model.")
    if facts.timings_valid is False:
        banners.append("Timings invalid: client-bound. The client was too busy to time well.")
    if departures := facts.settings.get("departures from the protocol"):
        banners.append(_departs(departures))
    part = RunPart(
        letter=run.letter,
        reference=run.reference,
        model=run.model,
        task=run.task,
        source=run.source,
        trials=n,
        statuses={name: count for name, count in statuses.items() if count},
        scores=[_score(name, side) for name in trials.scores],
        banners=[*banners, *_failures(failed, n)],
        run=facts.run,
        slot=facts.slot,
        repeats=1 + max(trials.repeats, default=0),
    )
    return Part(part, None, side.timings, facts_of_file(facts), data=facts.data)


def _score(name: str, side: Side) -> ScoreSummary:
    """The figures of one score as far as a file tells them."""
    column, trials = side.trials.scores[name], side.trials
    values = np.where(column.states == 0, column.values, np.nan)
    repeated = len(set(trials.samples)) < len(trials.samples) and all(trials.samples)
    found = mark("", values, np.array(trials.samples) if repeated else None)
    padded = np.nan_to_num(values)
    missing = len(values) - found.n
    in_unit = bool(((padded >= 0) & (padded <= 1)).all())
    return ScoreSummary(
        scorer=name,
        n=len(values),
        n_scored=found.n,
        unparsed=column.count(NO_ANSWER),
        grader_errors=0,
        mean=exact_mean(padded) if len(values) else 0.0,
        std=exact_std(padded) if len(values) else 0.0,
        min=float(padded.min()) if len(values) else 0.0,
        max=float(padded.max()) if len(values) else 0.0,
        mean_scored=found.mean,
        low=found.low,
        high=found.high,
        method="",
        n_samples=len(set(trials.samples)),
        n_groups=None,
        between=None,
        within=None,
        bounds=(exact_mean(padded), (exact_sum(padded) + missing) / len(values))
        if in_unit and missing
        else None,
    )
