"""What a server gives under rising load: the times of requests against answers per second, level by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from markupsafe import Markup

from benchwright.analysis.load.curves import LoadCurve, LoadPoint
from benchwright.analysis.load.records import Spread
from benchwright.formats import counted
from benchwright.reports.html.charts.scales import Scale, amount_label, time_label, times
from benchwright.reports.html.charts.svg import (
    WIDTH,
    bottom_axis,
    drawing,
    element,
    left_axis,
    line,
    series,
    text,
)
from benchwright.reports.html.text import one_line

LEFT, RIGHT, TOP, HEIGHT = 58, 24, 18, 250

LoadMeasure = Literal["ttft", "latency"]
LOAD_MEASURES: dict[LoadMeasure, str] = {"latency": "Latency", "ttft": "Time to first token"}

Timed = Sequence[tuple[LoadPoint, Spread]]


def timed(curve: LoadCurve, measure: LoadMeasure) -> Timed:
    """The levels of which this measure is known."""
    spreads = [(point, getattr(point, measure)) for point in curve.points]
    return [(point, spread) for point, spread in spreads if spread is not None]


def load_curves(
    found: Sequence[LoadCurve], measure: LoadMeasure, places: Mapping[str, int], names: Mapping[str, str]
) -> Markup:
    """Times (`ttft`, `latency`) against answers per second: the median with its interval, and fainter the p99."""
    bottom = TOP + HEIGHT
    curves = [(curve, timed(curve, measure)) for curve in found]
    everyone = [one for _, points in curves for one in points]
    x = times((point.achieved for point, _ in everyone), LEFT, WIDTH - RIGHT)
    y = times((end.value for _, spread in everyone for end in (spread.p50, spread.p99)), bottom, TOP)
    title = "answers per second" + (", logarithmic" if x.log else "")
    parts = [
        *left_axis(y, LEFT, WIDTH - RIGHT, time_label),
        *bottom_axis(x, TOP, bottom, amount_label, title),
    ]
    for curve, points in curves:
        parts += _curve(points, x, y, places[curve.letter], names[curve.letter])
    told = "; ".join(f"{names[curve.letter]}: {_told(points)}" for curve, points in curves)
    title = f"{LOAD_MEASURES[measure]} against answers per second"
    return drawing(title, f"{counted(len(found), 'curve')}. {told}", bottom + 42, parts)


def _told(points: Timed) -> str:
    return ", ".join(
        f"{point.level.name}: {amount_label(point.achieved)}/s, p50 {time_label(spread.p50.value)}"
        for point, spread in points
    )


def _curve(points: Timed, x: Scale, y: Scale, place: int, name: str) -> Iterator[Markup]:
    if not points:
        return
    for quantile, faint in (("p99", " tail"), ("p50", "")):
        times_of = [(one.achieved, getattr(spread, quantile).value) for one, spread in points]
        path = "L".join(f"{x.at(rate):.1f} {y.at(seconds):.1f}" for rate, seconds in times_of)
        yield element("path", d=f"M{path}", class_=f"curve{faint} {series(place)}")
    for one, spread in points:
        at, middle = x.at(one.achieved), spread.p50
        if middle.low is not None and middle.high is not None:
            yield line(at, y.at(middle.low), at, y.at(middle.high), "whisker")
        yield element("circle", cx=at, cy=y.at(middle.value), r=4, class_=f"point {series(place)}")
        yield text(at, y.at(middle.value) + 17, one.level.name, anchor="middle")
    last, spread = points[-1]
    at, level = x.at(last.achieved), y.at(spread.p50.value)
    yield text(at - 8, level - 8, one_line(name, 24), anchor="end", class_="t halo")
