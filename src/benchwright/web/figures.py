"""The figures of a run for its page: the summary, and charts of each target's first score and request times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from benchwright.analysis.equal_repeats import equal_repeats_lines
from benchwright.analysis.judged.judge_sentences import judge_lines
from benchwright.analysis.labels import breakdown_labels
from benchwright.analysis.load.cached_prompts import warm_cache_lines
from benchwright.analysis.report.chart_means import TaskRun, mean_breakdowns, scores_by_latency
from benchwright.analysis.report.columns import columns_of
from benchwright.analysis.report.records import ChartRow
from benchwright.analysis.report.run_sections import request_times
from benchwright.analysis.report.time_charts import time_distributions
from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import RunSummary, TargetSummary
from benchwright.analysis.suspicious_passes import suspicious_lines
from benchwright.analysis.thinking import thinking_lines
from benchwright.reports.html.charts.means import means_chart
from benchwright.reports.html.charts.time_charts import distribution_chart, score_by_latency_chart
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable

RUN_LETTER = "A"
MAX_LABELS = 6
MIN_CHART_VALUES = 20
"""Minimum number of trials or requests for which a chart of times is drawn. A chart of fewer would say little."""


class Chart(NamedTuple):
    """A drawing with its title."""

    title: str
    drawing: Markup


class BreakdownChart(NamedTuple):
    """The means of a score for each value of a label, as a bar chart and as figures.

    `omitted_count`: number of values of the label that are not shown.
    """

    label: str
    drawing: Markup
    rows: list[ChartRow]
    omitted_count: int


class TargetFigures(NamedTuple):
    """The figures of one target: its summary, its notes, the name of its first score, and charts.

    The name is "" if there is no score.
    """

    target: TargetSummary
    notes: list[str]
    score: str
    breakdowns: list[BreakdownChart]
    times: list[Chart]


class RunFigures(NamedTuple):
    """The figures of a run, computed from the part of its table that has been read."""

    summary: RunSummary
    targets: list[TargetFigures]


def compute_figures(manifest: Manifest, table: RunTable) -> RunFigures:
    """Compute the summary of a run (as in `benchwright show`) and charts. The table must not grow meanwhile."""
    summary = summarise(manifest, table)
    return RunFigures(summary, [_target_figures(manifest, table, target) for target in summary.targets])


def _target_figures(manifest: Manifest, table: RunTable, target: TargetSummary) -> TargetFigures:
    columns = columns_of(table, target.slot)
    measured = TaskRun(
        RUN_LETTER, manifest.name, manifest, table, columns, breakdown_labels(manifest, columns.labels)
    )
    score = next(iter(table.scores), "")
    times = [*_request_times(table, target.slot), *_score_by_latency(measured, score)]
    notes = [
        *thinking_lines(target.thinking_cut_off),
        *suspicious_lines(target.suspicious),
        *equal_repeats_lines(target.equal_repeats),
        *judge_lines(target.scores),
        *warm_cache_lines(table.directory),
    ]
    return TargetFigures(target, notes, score, list(_breakdowns(measured, score))[:MAX_LABELS], times)


def _breakdowns(measured: TaskRun, score: str) -> Iterator[BreakdownChart]:
    for found in mean_breakdowns([measured]):
        if found.score == score:
            drawing = means_chart(f"{score} by {found.label}", score, found.rows, {RUN_LETTER: 0})
            yield BreakdownChart(found.label, drawing, found.rows, found.left_out)


def _request_times(table: RunTable, slot: str) -> Iterator[Chart]:
    times = {
        name: seconds
        for name, seconds in request_times(table, slot).items()
        if seconds.size >= MIN_CHART_VALUES
    }
    for found in time_distributions({RUN_LETTER: times}):
        yield Chart(found.title, distribution_chart(found, {RUN_LETTER: 0}, {RUN_LETTER: RUN_LETTER}))


def _score_by_latency(measured: TaskRun, score: str) -> Iterator[Chart]:
    """Yield the chart of a score against latency.

    Yield nothing if all scores are equal, or if there are too few trials.
    """
    for found in scores_by_latency(measured):
        if (
            found.score == score
            and found.n >= MIN_CHART_VALUES
            and len({value for _, value in found.dots}) > 1
        ):
            yield Chart(f"{score} against latency", score_by_latency_chart(found, 0))
