"""Chart of a server under rising load: request times against answers per second, with a point for each load level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from markupsafe import Markup

from benchwright.analysis.load.curves import LoadCurve, LoadPoint
from benchwright.analysis.load.figure_records import FigureEstimate, TimeDistribution
from benchwright.formats import count_with_noun
from benchwright.reports.html.charts.scales import Scale, amount_label, time_label, time_scale
from benchwright.reports.html.charts.svg import (
    DRAWING_WIDTH,
    bottom_axis,
    colour_class,
    element,
    left_axis,
    left_axis_title,
    legend,
    line,
    marker,
    render_drawing,
    text,
)
from benchwright.reports.html.text import one_line

LEFT, RIGHT, TOP, HEIGHT = 58, 38, 26, 250
MAX_NAME_LENGTH = 60
MIN_LABEL_DISTANCE = 13
"""Minimum vertical distance between two labels, in units of the drawing."""

SHARED_LABEL_DISTANCE = 20
"""Two points with the same level name share one label if they are nearer to each other than this distance, in units."""

LEVEL_NAME_SPACE = 20
"""Space for the name of a level below the lowest point of a logarithmic scale, in units of the drawing."""

LoadMeasure = Literal["ttft", "latency"]
LOAD_MEASURES: dict[LoadMeasure, str] = {"latency": "Latency", "ttft": "Time to first token"}

PERCENTILE_CLASSES = {"p99": " tail", "p90": " upper", "p50": ""}
"""The percentiles to draw: percentile -> suffix of its CSS class, which sets how faint the curve is."""

TimedLevels = Sequence[tuple[LoadPoint, TimeDistribution]]


def timed_levels(curve: LoadCurve, measure: LoadMeasure) -> TimedLevels:
    """Return the levels for which the measure is known, each with the distribution of the measure."""
    spreads = [(point, getattr(point, measure)) for point in curve.points]
    return [(point, spread) for point, spread in spreads if spread is not None]


def load_curves_chart(
    found: Sequence[LoadCurve], measure: LoadMeasure, places: Mapping[str, int], names: Mapping[str, str]
) -> Markup:
    """Draw request times against answers per second, with intervals: the median and, fainter, p90 and p99.

    A letter (A, B, …) identifies each curve. `places`: mapping from letter to the index of the curve's colour. `names`:
    mapping from letter to the curve's name.
    """
    entries = [
        (one_line(names[one.letter], MAX_NAME_LENGTH), colour_class(places[one.letter])) for one in found
    ]
    named, room = legend(entries, LEFT, 0)
    top = TOP + room
    bottom = top + HEIGHT
    curves = [(curve, timed_levels(curve, measure)) for curve in found]
    everyone = [one for _, points in curves for one in points]
    x = time_scale((point.achieved for point, _ in everyone), LEFT, DRAWING_WIDTH - RIGHT)
    y = time_scale((end for _, spread in everyone for end in _ends(spread)), bottom, top)
    if y.is_logarithmic:
        y = y._replace(start=bottom - LEVEL_NAME_SPACE)
    title = "answers per second" + (", logarithmic" if x.is_logarithmic else "")
    parts = [
        *named,
        left_axis_title(LOAD_MEASURES[measure] + (", logarithmic" if y.is_logarithmic else ""), room),
        *left_axis(y, LEFT, DRAWING_WIDTH - RIGHT, time_label),
        *bottom_axis(x, top, bottom, amount_label, title),
    ]
    for curve, points in curves:
        parts += _curve(points, x, y, places[curve.letter])
    parts += _level_names([points for _, points in curves], x, y)
    if len(curves) == 1 and curves[0][1]:
        parts += _quantile_names(curves[0][1], x, y)
    description = "; ".join(f"{names[curve.letter]}: {_described(points)}" for curve, points in curves)
    title = f"{LOAD_MEASURES[measure]} against answers per second"
    return render_drawing(title, f"{count_with_noun(len(found), 'curve')}. {description}", bottom + 42, parts)


def _ends(spread: TimeDistribution) -> Iterator[float]:
    for name in PERCENTILE_CLASSES:
        one: FigureEstimate = getattr(spread, name)
        yield from (end for end in (one.low, one.value, one.high) if end is not None)


def _described(points: TimedLevels) -> str:
    return ", ".join(
        f"{point.level.name}: {amount_label(point.achieved)}/s, p50 {time_label(spread.p50.value)}"
        for point, spread in points
    )


def _curve(points: TimedLevels, x: Scale, y: Scale, place: int) -> Iterator[Markup]:
    if not points:
        return
    for quantile, faint in PERCENTILE_CLASSES.items():
        estimates = [(x.coordinate(one.achieved), getattr(spread, quantile)) for one, spread in points]
        path = "L".join(f"{at:.1f} {y.coordinate(one.value):.1f}" for at, one in estimates)
        yield element("path", d=f"M{path}", class_=f"curve{faint} {colour_class(place)}")
        for at, one in estimates:
            if one.low is not None and one.high is not None:
                yield line(at, y.coordinate(one.low), at, y.coordinate(one.high), f"whisker{faint}")
            yield marker(at, y.coordinate(one.value), place, 2.5 if faint else 4, f"point{faint}")


def _level_names(curves: Sequence[TimedLevels], x: Scale, y: Scale) -> Iterator[Markup]:
    """Yield the name of each level, placed below the point of the level's median time.

    A name is left out if an equal name is near.
    """
    taken: list[tuple[str, float, float]] = []
    for point, spread in (one for points in curves for one in points):
        name, across, down = (
            point.level.name,
            x.coordinate(point.achieved),
            y.coordinate(spread.p50.value) + 17,
        )
        if not any(
            name == other
            and abs(across - left) < SHARED_LABEL_DISTANCE
            and abs(down - level) < SHARED_LABEL_DISTANCE
            for other, left, level in taken
        ):
            taken.append((name, across, down))
            yield text(across, down, name, anchor="middle", class_="t over")


def _quantile_names(points: TimedLevels, x: Scale, y: Scale) -> Iterator[Markup]:
    """Yield the names of the percentiles beside the last point of each curve. No names overlap."""
    point, spread = points[-1]
    level = y.coordinate(spread.p50.value) + 4 + MIN_LABEL_DISTANCE
    for quantile in reversed(PERCENTILE_CLASSES):
        level = min(level - MIN_LABEL_DISTANCE, y.coordinate(getattr(spread, quantile).value) + 4)
        yield text(x.coordinate(point.achieved) + 8, level, quantile, class_="t over")
