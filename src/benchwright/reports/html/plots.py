"""Plots for reports, leaderboards and the viewer. Each has a title, a note, and a table of its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from benchwright.analysis.comparison.records import Comparison, PairComparison, ScoreComparison
from benchwright.analysis.deciding.records import ModelDecision, RunDecision
from benchwright.analysis.load.curves import LoadCurve
from benchwright.analysis.quality_and_speed.pareto_fronts import ParetoFront, Resource
from benchwright.analysis.report.records import DistributionChart
from benchwright.formats import format_interval, format_milliseconds, number_text
from benchwright.reports.comparison.breakdown import breakdown_block, breakdown_title
from benchwright.reports.comparison.sentences import CellText, ExternalText
from benchwright.reports.comparison.tables import TableBlock
from benchwright.reports.html.charts.decision import interval_chart
from benchwright.reports.html.charts.differences import DifferenceBar, differences_chart
from benchwright.reports.html.charts.fronts import AXIS_TITLES, front_chart
from benchwright.reports.html.charts.loads import LOAD_MEASURES, LoadMeasure, load_curves_chart, timed_levels
from benchwright.reports.html.charts.scales import amount_label, time_label
from benchwright.reports.html.charts.time_charts import distribution_chart
from benchwright.statistic import is_number

FRONT_AXIS_NAMES: dict[Resource, str] = {"seconds": "speed", "tokens": "tokens", "cost": "cost"}
FRONT_NOTE = "The dashed line joins the models that by their means no other beats in both: the Pareto front."
DIFFERENCE_NOTE = (
    "Right of 0 the second is better, left of it worse; coloured where the interval is without 0. "
    "Each interval stands by itself: of many parts, some look better or worse by chance alone."
)
LOAD_NOTE = (
    "The median, and fainter the 90th and 99th percentiles, with 95 % intervals where there are enough requests; "
    "beneath each point its level of load."
)


DECISION_NOTE = (
    "The line is the mean difference, the band the interval that holds at every moment; dashed the margin: what lies "
    "within does not matter."
)
MAX_DECISION_ROWS = 12
"""Approximate number of rows in the table that shows how the interval of a decision narrowed during the run.

If there are more steps, only every n-th step is shown.
"""


class Plot(NamedTuple):
    """A drawing with its title, a note, and a table of the drawn figures."""

    title: str
    drawing: Markup
    note: str = ""
    figures: TableBlock | None = None


class PlotSection(NamedTuple):
    """A group of plots with a title."""

    title: str
    plots: list[Plot]


def front_plots(
    found: Sequence[ParetoFront], places: Mapping[str, int], names: Mapping[str, str]
) -> list[Plot]:
    """Build the plots of quality against time, tokens or cost."""
    tasks = {one.task for one in found}
    return [
        Plot(
            f"{one.task}: {one.score} against {FRONT_AXIS_NAMES[one.spent]}"
            if len(tasks) > 1
            else f"{one.score} against {FRONT_AXIS_NAMES[one.spent]}",
            front_chart(one, places, names),
            FRONT_NOTE,
            _front_figures(one, names),
        )
        for one in found
    ]


def _front_figures(found: ParetoFront, names: Mapping[str, str]) -> TableBlock:
    label = time_label if found.spent == "seconds" else amount_label
    rows: list[list[CellText]] = [
        [
            ExternalText(names[point.letter]),
            label(point.spent),
            number_text(point.mean),
            format_interval(point.low, point.high),
            "yes" if point.on_front else "no",
        ]
        for point in found.points
    ]
    columns: list[CellText] = [
        "model",
        AXIS_TITLES[found.spent],
        ExternalText(found.score),
        "95 % interval",
        "on the front",
    ]
    return TableBlock(f"{found.score} against {FRONT_AXIS_NAMES[found.spent]}", columns, rows)


def difference_plots(comparison: Comparison) -> list[Plot]:
    """Build plots of the difference in each score of each pair of runs.

    There is one plot per label of the samples. If the samples have no labels, there is a single plot.
    """
    return [plot for pair in comparison.pairs for score in pair.scores for plot in _differences(pair, score)]


def _differences(pair: PairComparison, score: ScoreComparison) -> Iterator[Plot]:
    whole = DifferenceBar("all samples", score.difference, score.low, score.high, is_overall=True)
    axis = f"{score.title}: {pair.b} − {pair.a}"
    found = [one for one in pair.breakdowns if one.score == score.score]
    for one in found:
        bars = [
            whole,
            *(DifferenceBar(part.value, part.difference, part.low, part.high) for part in one.parts),
        ]
        title = breakdown_title(pair, one)
        figures = breakdown_block(pair, one, score.confidence)
        yield Plot(title, differences_chart(title, axis, bars), DIFFERENCE_NOTE, figures)
    if not found:
        title = f"{pair.b} − {pair.a}: {score.title}"
        yield Plot(title, differences_chart(title, axis, [whole]))


def distribution_plot(
    found: DistributionChart, places: Mapping[str, int], names: Mapping[str, str], note: str = ""
) -> Plot:
    """Build the plot of the distribution of request times."""
    rows: list[list[CellText]] = [
        [
            ExternalText(names[curve.letter]),
            f"{curve.n:,}",
            *(format_milliseconds(one.value) for one in curve.quantiles),
        ]
        for curve in found.curves
    ]
    columns = ["model", "requests", *(f"p{one.q * 100:g}, ms" for one in found.curves[0].quantiles)]
    title = f"{found.title}: the share of requests that took no longer"
    return Plot(title, distribution_chart(found, places, names), note, TableBlock(found.title, columns, rows))


def decision_plots(decision: RunDecision | None) -> list[Plot]:
    """Build a plot for each comparison of a decision. It shows how the interval of the comparison narrowed.

    Comparisons without data are left out.
    """
    if decision is None:
        return []
    return [
        Plot(
            f"{one.model} − {one.than}, {one.score}: how the interval closed",
            interval_chart(one, decision),
            DECISION_NOTE if decision.margin else DECISION_NOTE.partition(";")[0] + ".",
            _moments(one),
        )
        for one in decision.models
        if one.used and is_number(one.difference)
    ]


def _moments(one: ModelDecision) -> TableBlock:
    step = max(1, len(one.path) // MAX_DECISION_ROWS)
    chosen = [*one.path[:-1][::-step][::-1], one.path[-1]]
    rows: list[list[CellText]] = [
        [f"{each.samples:,}", f"{each.difference:+.3f}", f"[{each.low:+.3f}, {each.high:+.3f}]"]
        for each in chosen
    ]
    return TableBlock(
        "How the interval closed", ["samples used", "difference", "interval"], rows, left_columns=0
    )


def load_plots(found: Sequence[LoadCurve]) -> list[Plot]:
    """Build plots of latency and TTFT under rising load, with a curve for each measurement."""
    models = [curve.model for curve in found]
    names = {
        curve.letter: curve.model if models.count(curve.model) == 1 else f"{curve.model} ({curve.id[-4:]})"
        for curve in found
    }
    return list(curve_plots(found, {curve.letter: place for place, curve in enumerate(found)}, names))


def curve_plots(
    found: Sequence[LoadCurve], places: Mapping[str, int], names: Mapping[str, str]
) -> Iterator[Plot]:
    """Yield plots of latency and TTFT under rising load.

    A letter (A, B, …) identifies each curve. `places`: mapping from letter to the index of the curve's colour. `names`:
    mapping from letter to the curve's name.
    """
    for measure, told in LOAD_MEASURES.items():
        known = [curve for curve in found if timed_levels(curve, measure)]
        if known:
            title = f"{told} against answers per second"
            drawing = load_curves_chart(known, measure, places, names)
            yield Plot(title, drawing, LOAD_NOTE, _load_figures(title, known, measure, names))


def _load_figures(
    title: str, found: Sequence[LoadCurve], measure: LoadMeasure, names: Mapping[str, str]
) -> TableBlock:
    rows: list[list[CellText]] = [
        [
            ExternalText(names[curve.letter]),
            point.level.name,
            amount_label(point.achieved),
            *(format_milliseconds(one.value) for one in (spread.p50, spread.p90, spread.p99)),
        ]
        for curve in found
        for point, spread in timed_levels(curve, measure)
    ]
    return TableBlock(title, ["model", "level", "answers/s", "p50, ms", "p90, ms", "p99, ms"], rows)
