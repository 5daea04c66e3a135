"""Makes the section of a report on one run or one result file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchwright.analysis.comparison.records import ComparedRun
from benchwright.analysis.comparison.sides import ERROR, NO_ANSWER, Side
from benchwright.analysis.comparison.sides_from_table import RunSides
from benchwright.analysis.equal_repeats import equal_repeats_lines
from benchwright.analysis.judged.judge_sentences import judge_lines
from benchwright.analysis.labels import breakdown_labels
from benchwright.analysis.load.cached_prompts import warm_cache_lines
from benchwright.analysis.no_scores import (
    group_unscored_scorers,
    remaining_failures,
    remove_shown_reason,
    unscored_scorers,
)
from benchwright.analysis.quality_and_speed.pareto_fronts import resources_per_trial
from benchwright.analysis.report.chart_means import TaskRun, scores_by_latency
from benchwright.analysis.report.columns import TrialColumns, columns_of
from benchwright.analysis.report.conversations import choose_trials, conversation_at
from benchwright.analysis.report.provenance import facts_of_file, facts_of_run
from benchwright.analysis.report.records import PackOwnScore, RunSection, Waterfall
from benchwright.analysis.report.time_charts import evenly_spread_trials, slowest_trials, timed_trial
from benchwright.analysis.request_lines import request_lines
from benchwright.analysis.scores import ScoreScale, ScoreValues, mean_of, mean_with_interval
from benchwright.analysis.shortfalls import count_failed_trials, shortfalls
from benchwright.analysis.summary_records import RunSummary, ScoreSummary, TargetSummary
from benchwright.analysis.suspicious_passes import suspicious_lines
from benchwright.analysis.thinking import thinking_lines
from benchwright.runs.cards import read_cards
from benchwright.runs.manifest import Manifest
from benchwright.runs.manifest_facts import given_name
from benchwright.runs.table import RunTable
from benchwright.stats.arrays import Vector, count_distinct, exact_mean, exact_std


class ReportRun(NamedTuple):
    """One run in a report, with the data that are combined across runs: columns, times by kind, facts.

    `table` is None for a result file. `data_digests`: the digests of the data files.
    """

    section: RunSection
    task_run: TaskRun | None
    request_times: Mapping[str, Vector]
    facts: Mapping[str, str]
    table: RunTable | None = None
    slot: str | None = None
    data_digests: tuple[str, ...] | None = None


def read_report_run(sides: RunSides, run: ComparedRun, most: int) -> ReportRun:
    """Return the report's section on one target of a run, with at most `most` conversations.

    Raises:
        JournalError: If the journal cannot be read.
    """
    manifest, table, summary, slot = sides.manifest, sides.table, sides.summary, run.slot
    assert slot is not None
    target = next(one for one in summary.targets if one.slot == slot)
    columns = columns_of(table, slot)
    measured = TaskRun(
        run.letter, run.task, manifest, table, columns, breakdown_labels(manifest, columns.labels)
    )
    chosen = choose_trials(columns, manifest.pass_threshold, most)
    part = RunSection(
        letter=run.letter,
        reference=run.reference,
        model=run.title,
        task=run.task,
        source=run.source,
        trials=target.trials,
        statuses=target.statuses,
        scores=target.scores,
        banners=list(_banners(manifest, summary, target, table.directory)),
        run=manifest.id,
        slot=slot,
        state=summary.state,
        planned=None if summary.planned is None else summary.planned // len(manifest.targets),
        repeats=manifest.repeats,
        reused=target.reused,
        other_roles=target.other_roles,
        requests=target.requests,
        by_latency=list(scores_by_latency(measured)),
        waterfalls=list(_waterfalls(table, columns, run.letter)),
        conversations=[
            conversation_at(table, int(columns.rows[place]), why) for place, why in chosen.items()
        ],
        own_score=_own_score(table, manifest, slot),
        per_trial=resources_per_trial(sides.side(slot)),
        name=given_name(manifest),
        note=summary.note,
        decision=summary.decision,
        figures=target.figures,
    )
    data = tuple(file.xxh3 for file in manifest.data)
    card = read_cards(table.directory).get(slot)
    facts = facts_of_run(manifest, slot, summary.found_concurrency, card)
    return ReportRun(part, measured, request_times(table, slot), facts, table, slot, data)


def request_times(table: RunTable, slot: str) -> Mapping[str, Vector]:
    """Return the `ttft` and `latency`, in seconds, of the requests of a target that count in timings."""
    requests = table.requests.get(slot)
    if requests is None:
        return {}
    return {name: requests.timing_column(name).astype(np.float64) for name in ("ttft", "latency")}


def _waterfalls(table: RunTable, columns: TrialColumns, letter: str) -> Iterator[Waterfall]:
    n = columns.rows.size
    first = int(columns.started_at.min()) if n else 0
    for words, places in (
        ("evenly spread over the run", evenly_spread_trials(columns)),
        ("the slowest", slowest_trials(columns)),
    ):
        if places:
            timed = [timed_trial(trial, first) for trial in table.read_trials(columns.rows[places])]
            yield Waterfall(letter, words, n, timed)


def _banners(
    manifest: Manifest, summary: RunSummary, target: TargetSummary, directory: Path
) -> Iterator[str]:
    if summary.origin is not None:
        yield from summary.origin.lines
    if summary.simulated:
        yield "Simulated: some of these answers are not from a model."
    if summary.timings_note is not None:
        yield f"Timings invalid: {summary.timings_note}"
    yield from thinking_lines(target.thinking_cut_off)
    yield from suspicious_lines(target.suspicious)
    yield from equal_repeats_lines(target.equal_repeats)
    yield from judge_lines(target.scores)
    yield from warm_cache_lines(directory)
    yield from request_lines(target.requests)
    if departures := manifest.about.get("departures"):
        yield _departs("; ".join(departures))
    if summary.state != "finished":
        planned = f" of {summary.planned:,}" if summary.planned is not None else ""
        stopped = remove_shown_reason(summary.stop_reason or "", [target])
        why = f" {stopped[:1].upper()}{stopped[1:]}." if stopped and summary.state != "decided" else ""
        yield f"This run is {summary.state}: {summary.done:,}{planned} trials are done.{why}"
    yield from (f"{remove_shown_reason(sentence, [target])}." for sentence in shortfalls(manifest, [target]))
    yield from (one.text() for one in unscored_scorers(target))
    yield from _failures(count_failed_trials(target.statuses), target.trials)
    for reason, count in remaining_failures(target).items():
        yield f"{count:,} failed: {reason}"


def _departs(departures: str) -> str:
    return f"Departs from the protocol, so its scores are not comparable to published ones: {departures}."


def _failures(failed: int, trials: int) -> Iterator[str]:
    if 0 < failed < trials:
        yield (
            f"{failed:,} of {trials:,} trials failed ({failed / trials:.1%}). A failure is not a wrong answer: it is "
            "left out of the means of what was scored."
        )


def _own_score(table: RunTable, manifest: Manifest, slot: str) -> PackOwnScore | None:
    if manifest.kind != "pack":
        return None
    from benchwright.analysis.pack_runs import read_scores

    kept = read_scores(manifest, table).get(slot)
    if kept is None:
        return None
    total = kept.total or "no score"
    if kept.score is None or not kept.is_complete:
        return PackOwnScore(total, kept.remark)
    categories = [
        (
            category.label,
            "–" if category.score is None else f"{category.score:g} {category.unit or ''}".strip(),
            "–" if category.weight is None else f"{category.weight:g}",
        )
        for category in kept.score.categories
    ]
    return PackOwnScore(total, kept.remark, categories)


def report_run_of_file(side: Side, run: ComparedRun) -> ReportRun:
    """Return the report's section on a result file, or on one model of an `eval -o` file."""
    facts, trials = side.facts, side.trials
    n = len(trials.samples)
    first = next(iter(trials.scores.values()), None)
    failed, silent = (0, 0) if first is None else (first.count(ERROR), first.count(NO_ANSWER))
    statuses = {"scored": n - failed - silent, "no_answer": silent, "failed": failed}
    banners = ["From a result file: conversations, waterfalls and breakdowns are only available for runs."]
    if facts.simulated:
        banners.append("Simulated: some of these answers are not from a model.")
    if facts.timings_valid is False:
        banners.append("Timings invalid: the client was too busy.")
    if departures := facts.settings.get("departures from the protocol"):
        banners.append(_departs(departures))
    scores = [_score(name, side) for name in trials.scores]
    part = RunSection(
        letter=run.letter,
        reference=run.reference,
        model=run.title,
        task=run.task,
        source=run.source,
        trials=n,
        statuses={name: count for name, count in statuses.items() if count},
        scores=scores,
        banners=[*banners, *_unscored(scores), *_failures(failed, n)],
        run=facts.run,
        slot=facts.slot,
        repeats=1 + max(trials.repeats, default=0),
    )
    return ReportRun(part, None, side.timings, facts_of_file(facts), data_digests=facts.data_digests)


def _unscored(scores: Sequence[ScoreSummary]) -> Iterator[str]:
    yield from (f"{', '.join(one.scorers)}: {one.no_score}" for one in group_unscored_scorers(scores))


def _score(name: str, side: Side) -> ScoreSummary:
    """Return the figures of one score as far as a file contains them."""
    found = _values(name, side)
    shown = mean_with_interval(mean_of(found))
    documented = np.concatenate([found.values, np.zeros(found.failed_count)])
    some = documented if documented.size else np.zeros(1)
    return ScoreSummary(
        scorer=name,
        n=found.trial_count,
        n_scored=len(found.values),
        unparsed=found.no_answer_count,
        no_answer=found.no_answer_count,
        grader_errors=0,
        documented_mean=exact_mean(some),
        documented_std=exact_std(some),
        documented_min=float(some.min()),
        documented_max=float(some.max()),
        mean_scored=shown.mean,
        low=shown.low,
        high=shown.high,
        method="",
        n_samples=len(set(side.trials.samples)),
        n_groups=None,
        between=None,
        within=None,
        bounds=found.mean_bounds,
    )


def _values(name: str, side: Side) -> ScoreValues:
    column, samples = side.trials.scores[name], side.trials.samples.codes
    rows = np.flatnonzero(column.states != ERROR)
    values = column.values[rows]
    repeated = count_distinct(samples) < samples.size and bool((samples >= 0).all())
    in_unit = bool(((values >= 0) & (values <= 1)).all())
    scale = ScoreScale(0.0, 1.0) if in_unit else ScoreScale()
    no_answer, failed = column.count(NO_ANSWER), column.count(ERROR)
    reasons = side.failure_reasons(name) if not values.size else {}
    return ScoreValues(values, samples[rows] if repeated else None, None, no_answer, failed, scale, reasons)
