"""The timeline of a load level: charts (panels), one below the other, with a common time axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from benchwright.analysis.load.timeline import LevelTimeline
from benchwright.reports.html.charts.loads import LEFT
from benchwright.reports.html.charts.scales import Scale, amount_label, time_label
from benchwright.reports.html.charts.svg import (
    DRAWING_WIDTH,
    bottom_axis,
    element,
    left_axis,
    left_axis_title,
    legend,
    rectangle,
    render_drawing,
)

RIGHT, HEADING, HEIGHT, GAP = 24, 24, 96, 18
"""Sizes in units. `RIGHT`: space right of the panels. `HEADING`: space for a panel's title.

`HEIGHT`: height of a panel. `GAP`: gap between panels.
"""

TimelineValues = Sequence[tuple[float, float | None]]
"""Type: pairs (second, value). The value is None if it is unknown."""


class TimelineLine(NamedTuple):
    """A line in a panel: its name, CSS classes and values.

    If `is_stepped` is True, each value holds until the next value.
    """

    name: str
    css_classes: str
    values: TimelineValues
    is_stepped: bool = True


class TimelinePanel(NamedTuple):
    """One panel of the timeline: its lines over the seconds of a level.

    `format_value`: formats the values of the panel's axis.
    """

    title: str
    lines: Sequence[TimelineLine]
    format_value: Callable[[float], str]


def timeline_chart(title: str, found: LevelTimeline) -> Markup:
    """Draw the requests in flight, answers per second, latency and server metrics of a load level.

    The time window in which requests count is shaded.
    """
    x = Scale(0.0, found.seconds, LEFT, DRAWING_WIDTH - RIGHT)
    shown = list(timeline_panels(found))
    parts, top = list[Markup](), 0.0
    for one in shown:
        parts += _panel(one, found, x, top)
        top += HEADING + HEIGHT + GAP
    bottom = top - GAP
    axis = "seconds since the first request" + ("" if found.begin is None else "; shaded: what counts")
    parts += bottom_axis(x, bottom, bottom, lambda value: f"{value:g}", axis)
    most = max(found.in_flight)
    description = (
        f"{len(shown)} panels over {time_label(found.seconds)}; up to {amount_label(most)} in flight."
    )
    return render_drawing(title, description, bottom + 42, parts)


def timeline_panels(found: LevelTimeline) -> Iterator[TimelinePanel]:
    """Yield the panels of the timeline.

    The panel of latency and the panel of the KV cache are left out if these values are unknown.
    """
    said = [
        ("server: running", "s1", [(one.at, one.running) for one in found.server]),
        ("server: waiting", "s2", [(one.at, one.waiting) for one in found.server]),
    ]
    lines = [
        TimelineLine(name, classes, values, is_stepped=False)
        for name, classes, values in said
        if _any(values)
    ]
    yield TimelinePanel(
        "In flight", [TimelineLine("sent", "s0", _binned(found, found.in_flight)), *lines], amount_label
    )
    yield TimelinePanel(
        "Answers/s", [TimelineLine("answers", "s0", _binned(found, found.answers))], amount_label
    )
    slowest, middle = (_binned(found, values) for values in (found.latency_most, found.latency_p50))
    if _any(middle):
        lines = [TimelineLine("median", "s0", middle), TimelineLine("slowest", "tail s0", slowest)]
        yield TimelinePanel("Latency, by start", lines, time_label)
    cache = [(one.at, one.cache) for one in found.server]
    if _any(cache):
        lines = [TimelineLine("cache", "s1", cache, is_stepped=False)]
        yield TimelinePanel("Server: KV cache in use", lines, lambda share: f"{share * 100:.3g} %")


def _binned(found: LevelTimeline, values: Sequence[float | None]) -> TimelineValues:
    return [(place * found.width, value) for place, value in enumerate(values)]


def _any(values: TimelineValues) -> bool:
    return any(value is not None for _, value in values)


def _panel(panel: TimelinePanel, found: LevelTimeline, x: Scale, top: float) -> Iterator[Markup]:
    begin, bottom = top + HEADING, top + HEADING + HEIGHT
    highest = max((value for one in panel.lines for _, value in one.values if value is not None), default=0.0)
    y = Scale(0.0, highest * 1.08 or 1.0, bottom, begin)
    if found.begin is not None and found.end is not None:
        left, right = x.coordinate(found.begin), x.coordinate(found.end)
        yield rectangle(left, begin, right - left, HEIGHT, "window")
    yield left_axis_title(panel.title, top)
    named, _ = legend([(one.name, one.css_classes) for one in panel.lines], DRAWING_WIDTH * 0.34, top)
    yield from named
    yield from left_axis(y, LEFT, DRAWING_WIDTH - RIGHT, panel.format_value)
    for one in panel.lines:
        yield from _line(one, found, x, y)


def _line(one: TimelineLine, found: LevelTimeline, x: Scale, y: Scale) -> Iterator[Markup]:
    """Yield a path for each section of a line. The line is interrupted where values are unknown."""
    for stretch in _stretches(one.values):
        places = [(x.coordinate(at), y.coordinate(value)) for at, value in stretch]
        if one.is_stepped:
            end = x.coordinate(stretch[-1][0] + found.width)
            path = f"M{places[0][0]:.1f} {places[0][1]:.1f}"
            path += "".join(f"H{across:.1f}V{down:.1f}" for across, down in places[1:]) + f"H{end:.1f}"
        else:
            path = "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in places)
        yield element("path", d=path, class_=f"curve {one.css_classes}")


def _stretches(values: TimelineValues) -> Iterator[list[tuple[float, float]]]:
    stretch: list[tuple[float, float]] = []
    for at, value in values:
        if value is not None:
            stretch.append((at, value))
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch
