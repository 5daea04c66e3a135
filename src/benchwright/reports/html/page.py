"""The report as an HTML page with charts. All text from outside is escaped.

The page has no script. Its content security policy blocks all loading, and allows only the page's own style sheet.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, get_args

from benchwright.analysis.comparison.side_naming import with_side_names
from benchwright.analysis.quality_and_speed.records import ConcurrencyTable
from benchwright.analysis.report.records import (
    ChartMean,
    ChartRow,
    Flip,
    Report,
    RunSection,
    SegmentKind,
    Waterfall,
)
from benchwright.reports.comparison.sentences import (
    ExternalText,
    Line,
    comparison_warnings,
    note_lines,
    unescaped_text,
    verdict_lines,
)
from benchwright.reports.comparison.tables import TableBlock, comparison_blocks
from benchwright.reports.decision import decision_lines
from benchwright.reports.html.charts.means import means_chart, stacked_bar
from benchwright.reports.html.charts.scales import time_label
from benchwright.reports.html.charts.svg import colour_class
from benchwright.reports.html.charts.time_charts import (
    distribution_chart,
    score_by_latency_chart,
    waterfall_chart,
)
from benchwright.reports.html.environment import html_environment
from benchwright.reports.html.load_plots import load_sections
from benchwright.reports.html.page_style import GENERATOR_TAG, TEMPLATES_FOLDER, report_style
from benchwright.reports.html.plots import Plot, decision_plots, difference_plots, front_plots
from benchwright.reports.quality_and_speed import (
    concurrency_blocks,
    concurrency_lines,
    quality_and_speed_blocks,
    quality_and_speed_lines,
)
from benchwright.reports.summary import interval_text
from benchwright.statistic import numeric_statistics

if TYPE_CHECKING:
    from jinja2 import Environment

SEGMENT_NAMES: dict[SegmentKind, str] = {
    "waited": "waiting before a retry",
    "connect": "connecting",
    "first token": "until the first token",
    "generation": "generation",
    "answer": "whole answer, not streamed",
}


def render_report(report: Report) -> str:
    """Render a report as a whole page."""
    comparison = with_side_names(report.comparison)
    concurrency = comparison.by_concurrency
    names = {run.letter: run.name for run in report.comparison.runs}
    places = {run.letter: place for place, run in enumerate(report.runs)}
    return (
        report_environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            places=places,
            names=names,
            several=len(report.runs) > 1,
            score_rows=_score_rows(report.runs, names),
            banners=_banners(report.runs),
            decisions=_decisions(report.runs),
            verdicts=list(verdict_lines(comparison)),
            warnings=list(comparison_warnings(comparison, simulated=False, no_scores=False)),
            notes=list(note_lines(comparison)),
            blocks=[block for block in comparison_blocks(comparison) if _belongs(block)],
            difference_plots=difference_plots(comparison),
            joint=[*concurrency_lines(concurrency), *quality_and_speed_lines(comparison.joint)],
            joint_blocks=[*concurrency_blocks(concurrency), *quality_and_speed_blocks(comparison.joint)],
            plots=[*front_plots(report.fronts, places, names), *_load_plots(report)],
            concurrency_rows=_concurrency_rows(report.comparison.by_concurrency),
            sheet=report_style(),
            generator=GENERATOR_TAG,
        )
    )


def _decisions(runs: list[RunSection]) -> list[tuple[list[Line], list[Plot]]]:
    """Return the decision of each run that has a statistical question (`--until`), as sentences and plots."""
    found = {run.run: run.decision for run in runs if run.decision is not None}
    return [(list(decision_lines(one)), decision_plots(one)) for one in found.values()]


def _load_plots(report: Report) -> list[Plot]:
    return [plot for section in load_sections(report.loads) for plot in section.plots]


def _belongs(block: TableBlock) -> bool:
    """Return True if a table belongs in the general chapter of the report.

    Tables of runs and of changed samples have chapters of their own. Tables of metrics are not shown.
    """
    return block.title not in ("Runs", "Metrics") and not block.title.startswith("Changed")


def _banners(runs: list[RunSection]) -> list[tuple[str, list[str]]]:
    """Return the banners (warnings and notes) for the top of the report, each with the letters of its runs."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for banner in run.banners:
            found.setdefault(banner, []).append(run.letter)
    return list(found.items())


def segment_kinds(found: Waterfall) -> list[str]:
    """Return the kinds of segments that occur in a waterfall chart, in a fixed order.

    They are the entries of its legend.
    """
    there = {segment.kind for trial in found.trials for segment in trial.segments}
    return [kind for kind in get_args(SegmentKind) if kind in there]


def _score_rows(runs: list[RunSection], names: Mapping[str, str]) -> list[tuple[str, list[ChartRow]]]:
    """Return (score, rows) for each chart of scores. The rows of a chart are the runs that have the score."""
    scorers = dict.fromkeys(score.scorer for run in runs for score in run.scores)
    found = []
    for name in scorers:
        rows = []
        for run in runs:
            for score in run.scores:
                if score.scorer == name:
                    lettered = len(runs) > 1 and names[run.letter] == run.letter
                    label = f"{run.letter}  {run.model}" if lettered else run.model
                    mark = ChartMean(
                        run.letter, score.n_scored, score.n, score.mean_scored, score.low, score.high
                    )
                    rows.append(ChartRow(label, [mark]))
        if _drawable(rows):
            found.append((name, rows))
    return found


def _drawable(rows: list[ChartRow]) -> bool:
    """Return True if any row has a mean to draw."""
    return bool(numeric_statistics(mark.mean for row in rows for mark in row.marks))


def _concurrency_rows(tables: list[ConcurrencyTable]) -> list[tuple[str, list[ChartRow]]]:
    """Return (title, rows) for each chart of accuracy by concurrency. The rows of a chart are the concurrencies."""
    charts = [
        (
            f"{table.model} on {table.task}: accuracy by concurrency",
            [
                ChartRow(
                    str(row.concurrency),
                    [
                        ChartMean(
                            row.letter,
                            row.judged.n,
                            row.judged.trials,
                            row.judged.accuracy,
                            row.judged.low,
                            row.judged.high,
                        )
                    ],
                )
                for row in table.rows
            ],
        )
        for table in tables
    ]
    return [(title, rows) for title, rows in charts if _drawable(rows)]


def common_prefix_length(flip: Flip) -> int:
    """Return the number of messages that are equal at the beginning of a changed sample's two conversations.

    The count ends before the first answer of a model.
    """
    if flip.a is None or flip.b is None:
        return 0
    count = 0
    for one, other in zip(flip.a.messages, flip.b.messages, strict=False):
        if one != other or one.role == "assistant":
            break
        count += 1
    return count


@cache
def report_environment() -> Environment:
    """Return the Jinja environment of self-contained pages, with their functions and filters."""
    environment = html_environment(TEMPLATES_FOLDER)
    environment.globals.update(
        means=means_chart,
        stacked=stacked_bar,
        distribution=distribution_chart,
        score_by_latency=score_by_latency_chart,
        waterfall=waterfall_chart,
        series=colour_class,
        shared=common_prefix_length,
        cell_words=unescaped_text,
        segment_kinds=segment_kinds,
        segment_words=SEGMENT_NAMES,
        interval_text=interval_text,
    )
    environment.filters.update(time=time_label, sentence=_sentence)
    environment.tests["foreign"] = lambda cell: isinstance(cell, ExternalText)
    return environment


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
