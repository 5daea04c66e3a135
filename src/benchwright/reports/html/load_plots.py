"""Plots of load measurements: rates and times against the load, distributions of times, and timelines of levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from benchwright.analysis.comparison.side_naming import side_letter
from benchwright.analysis.load.curves import load_curve_of
from benchwright.analysis.load.figure_records import FigureEstimate
from benchwright.analysis.load.plot_data import DetailedLoad, DistributionPoints, LevelDetail
from benchwright.analysis.load.records import LevelResult, LoadReport
from benchwright.formats import format_interval, format_milliseconds, number_text
from benchwright.reports.comparison.sentences import CellText, ExternalText
from benchwright.reports.comparison.tables import TableBlock
from benchwright.reports.html.charts.level_times import TimesCurve, level_times_chart
from benchwright.reports.html.charts.rates import answer_rates, goodput_rates, load_rates_chart
from benchwright.reports.html.charts.timeline import timeline_chart
from benchwright.reports.html.plots import Plot, PlotSection, curve_plots
from benchwright.reports.load.sentences import level_text

MAX_CURVES = 6
"""Maximum number of levels in a plot of distributions. It is the number of colours."""

MAX_TIMELINES = 12
"""Maximum number of level timelines in total, over all measurements."""

RATES_NOTE = "Whiskers are 95 % intervals."
GOODPUT_NOTE = (
    "Goodput: answers within all objectives, per second. Fainter: all answers. Whiskers are 95 % intervals."
)
OFFERED_RATE_NOTE = " On the dashed line all that is offered would be served."
TIMELINE_NOTE = (
    "Latency is that of the requests due at the time: the median, and fainter the slowest. What the server says comes "
    "from its own metrics, read every second."
)

TimeMeasure = Literal["ttft", "gaps"]
TIME_PLOT_TEXTS: Mapping[TimeMeasure, tuple[str, str, str]] = {
    "ttft": ("Time to first token", "time to first token", ""),
    "gaps": (
        "Gaps between chunks",
        "time between two chunks with tokens",
        "Of all answers together; each time is known to within 12.5 %.",
    ),
}
"""For each plot of distributions: its title, the title of its axis, and a note."""

ItemType = TypeVar("ItemType")


class PlottedLoad(NamedTuple):
    """A load measurement: its identifying letter, the index of its colour, and its name in plots.

    `results` contains the first repeat of each level, with details.
    """

    letter: str
    colour_index: int
    name: str
    load: DetailedLoad
    results: Sequence[tuple[LevelResult, LevelDetail]]


def load_sections(loads: Sequence[DetailedLoad]) -> list[PlotSection]:
    """Build the groups of plots that are not empty."""
    shown = [_shown(place, load, alone=len(loads) == 1) for place, load in enumerate(loads)]
    found = [
        PlotSection("Under rising load", [*_curves(shown), *_rates(shown)]),
        PlotSection(
            "Distributions", [plot for timed in TIME_PLOT_TEXTS for plot in _distributions(shown, timed)]
        ),
        PlotSection("Course of each level", list(_courses(shown))),
    ]
    return [section for section in found if section.plots]


def _shown(place: int, load: DetailedLoad, *, alone: bool) -> PlottedLoad:
    details = {one.run: one for one in load.details}
    results = [
        (result, details[result.run])
        for result in load.report.levels
        if result.repeat == 1 and result.run in details
    ]
    letter, report = side_letter(place), load.report
    return PlottedLoad(
        letter, place, report.model if alone else f"{letter}: {report.model}, {report.id}", load, results
    )


def _curves(shown: Sequence[PlottedLoad]) -> Iterator[Plot]:
    curves = [load_curve_of(one.load.report, one.letter) for one in shown]
    names = {one.letter: one.name for one in shown}
    return curve_plots(curves, {one.letter: one.colour_index for one in shown}, names)


def _rates(shown: Sequence[PlottedLoad]) -> Iterator[Plot]:
    """Yield a plot of the rates of closed loops, and a plot of the rates of open loops.

    They are separate, because the load of a closed loop is a concurrency, and that of an open loop is a request rate.
    """
    for is_open in (False, True):
        found = {
            one.letter: one.load.report
            for one in shown
            if answer_rates(one.load.report) and one.load.report.levels[0].level.is_open_loop is is_open
        }
        if found:
            places = {one.letter: one.colour_index for one in shown}
            names = {one.letter: one.name for one in shown}
            aimed = any(map(goodput_rates, found.values()))
            title = f"{'Goodput' if aimed else 'Answers per second'} against {'rate' if is_open else 'load'}"
            note = (GOODPUT_NOTE if aimed else RATES_NOTE) + (OFFERED_RATE_NOTE if is_open else "")
            drawing = load_rates_chart(found, places, names, open_loop=is_open)
            yield Plot(title, drawing, note, _rate_figures(title, found, names))


def _rate_figures(title: str, found: Mapping[str, LoadReport], names: Mapping[str, str]) -> TableBlock:
    rows: list[list[CellText]] = [
        [
            ExternalText(names[letter]),
            result.level.name,
            number_text(result.offered, ",.2f"),
            *_rate(result.achieved),
            *_rate(None if result.goodput is None else result.goodput.rate),
        ]
        for letter, report in found.items()
        for result in report.levels
    ]
    columns = ["model", "level", "offered/s", "answers/s", "95 % interval", "goodput/s", "95 % interval "]
    return TableBlock(title, columns, rows, left_columns=2)


def _rate(rate: FigureEstimate | None) -> list[CellText]:
    if rate is None:
        return ["–", "–"]
    return [f"{rate.value:,.2f}", format_interval(rate.low, rate.high, ",.2f")]


def _distributions(shown: Sequence[PlottedLoad], timed: TimeMeasure) -> Iterator[Plot]:
    """Yield plots of the distribution of a request time.

    For a single measurement, one plot shows all levels. For several measurements, there is a plot for each level that
    they share.
    """
    found = [[(each, detail) for each, detail in one.results if getattr(detail, timed)] for one in shown]
    if len(shown) == 1:
        chosen = _evenly(found[0], MAX_CURVES)
        if chosen:
            curves = [
                (level_text(each.level), place, each, detail) for place, (each, detail) in enumerate(chosen)
            ]
            yield _distribution(timed, "", curves)
        return
    levels = [each for of_one in found for each, _ in of_one]
    names = [each.level.name for each in sorted(levels, key=lambda each: each.level.numeric_load)]
    common = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    for name in _evenly(common, MAX_CURVES):
        curves = [
            (one.name, one.colour_index, each, detail)
            for one, of_one in zip(shown, found, strict=True)
            for each, detail in of_one
            if each.level.name == name
        ]
        yield _distribution(timed, f", {_in_words(curves[0][2])}", curves)


def _distribution(
    timed: TimeMeasure, where: str, curves: Sequence[tuple[str, int, LevelResult, LevelDetail]]
) -> Plot:
    title, axis, note = TIME_PLOT_TEXTS[timed]
    points: list[DistributionPoints] = [getattr(detail, timed) for *_, detail in curves]
    drawn = [TimesCurve(name, place, of) for (name, place, *_), of in zip(curves, points, strict=True)]
    rows: list[list[CellText]] = [
        [ExternalText(name), *_quantiles(result, timed)] for name, _, result, _ in curves
    ]
    first = "model" if where else "level"
    columns = ["p50", "p99", "longest"] if timed == "gaps" else ["p50", "p90", "p99"]
    figures = TableBlock(
        f"{title}{where}",
        [first, "n", *(f"{column}, ms" for column in columns)],
        rows,
    )
    return Plot(f"{title}{where}", level_times_chart(f"{title}{where}", axis, drawn), note, figures)


def _quantiles(result: LevelResult, timed: TimeMeasure) -> list[CellText]:
    if timed == "gaps":
        gaps = result.gaps
        known = None if gaps is None else (gaps.n, gaps.p50, gaps.p99, gaps.longest)
    else:
        ttft = result.ttft
        known = None if ttft is None else (ttft.n, ttft.p50.value, ttft.p90.value, ttft.p99.value)
    return ["–"] * 4 if known is None else [f"{known[0]:,}", *map(format_milliseconds, known[1:])]


def _courses(shown: Sequence[PlottedLoad]) -> Iterator[Plot]:
    """Yield the timeline of each level. Only the first timeline has the note that explains timelines."""
    note = TIMELINE_NOTE
    most = max(1, MAX_TIMELINES // max(1, len(shown)))
    for one in shown:
        known = [(each, detail.course) for each, detail in one.results if detail.course is not None]
        for each, found in _evenly(known, most):
            whose = f" ({one.name})" if len(shown) > 1 else ""
            title = f"Course: {_in_words(each)}{whose}"
            yield Plot(title, timeline_chart(title, found), note)
            note = ""


def _in_words(result: LevelResult) -> str:
    """Return the name of a level for use within a sentence."""
    words = level_text(result.level)
    return words[:1].lower() + words[1:]


def _evenly(items: Sequence[ItemType], most: int) -> list[ItemType]:
    """Return at most `most` evenly spaced items, including the first and the last.

    If `most` is 1, return the last item.
    """
    if len(items) <= most:
        return list(items)
    if most == 1:
        return [items[-1]]
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]
