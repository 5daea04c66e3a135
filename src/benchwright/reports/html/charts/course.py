"""What went on in a level of load from its start to its end: what was in flight, answered, and how long it took."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from benchwright.analysis.report.records import Course
from benchwright.reports.html.charts.scales import Scale, amount_label, share_label, time_label
from benchwright.reports.html.charts.svg import (
    WIDTH,
    bottom_axis,
    drawing,
    element,
    left_axis,
    rectangle,
    series,
    text,
)

LEFT, RIGHT, TOP = 58, 24, 22
PANEL, BETWEEN = 84, 30
"""Height of a panel, and the room between two, where its title stands."""

Points = Sequence[tuple[float, float | None]]


class Line(NamedTuple):
    """A line of a panel: what it is called, its points (seconds, value), and whether values hold until the next."""

    name: str
    points: Points
    steps: bool = True


class Panel(NamedTuple):
    """Lines on one axis."""

    title: str
    lines: list[Line]
    label: Callable[[float], str]


def course(found: Course) -> Markup:
    """Panels one above the other over the same seconds; the part that counts is shaded."""
    panels = list(_panels(found))
    bottom = TOP + len(panels) * (PANEL + BETWEEN) - BETWEEN
    x = Scale(0.0, found.step * len(found.in_flight), LEFT, WIDTH - RIGHT)
    parts = bottom_axis(x, TOP, bottom, time_label, "time since the first intended start")
    if found.window is not None:
        begin, end = map(x.at, found.window)
        parts.insert(0, rectangle(begin, TOP, end - begin, bottom - TOP, "band"))
    for number, panel in enumerate(panels):
        parts += _panel(panel, x, TOP + number * (PANEL + BETWEEN))
    told = "; ".join(f"{panel.title}: at most {panel.label(_most(panel))}" for panel in panels)
    return drawing(f"The course of level {found.level.name}", told, bottom + 42, parts)


def _panels(found: Course) -> Iterator[Panel]:
    moments = [number * found.step for number in range(len(found.in_flight))]
    ours = Line("ours", list(zip(moments, found.in_flight, strict=True)))
    server = found.server
    told = [
        Line(name, [(one.at, getattr(one, field)) for one in server], steps=False)
        for name, field in (("server: running", "running"), ("server: waiting", "waiting"))
    ]
    yield Panel("Requests in flight", [ours, *(one for one in told if _known(one))], amount_label)
    yield Panel(
        "Answers per second", [Line("", list(zip(moments, found.answers, strict=True)))], amount_label
    )
    latency = Line("", list(zip(moments, found.latency, strict=True)))
    yield Panel("Latency by intended start, median", [latency], time_label)
    cache = Line("", [(one.at, one.cache) for one in server], steps=False)
    if _known(cache):
        yield Panel("Server: KV cache in use", [cache], share_label)


def _known(line: Line) -> bool:
    return any(value is not None for _, value in line.points)


def _most(panel: Panel) -> float:
    return max((value for line in panel.lines for _, value in line.points if value is not None), default=0.0)


def _panel(panel: Panel, x: Scale, top: float) -> Iterator[Markup]:
    bottom = top + PANEL
    y = Scale(0.0, _most(panel) * 1.08 or 1.0, bottom, top)
    ticks = y.ticks()[::2]
    yield from left_axis(y, LEFT, WIDTH - RIGHT, lambda value: panel.label(value) if value in ticks else "")
    yield text(LEFT, top - 7, panel.title, class_="t label")
    names = [line.name for line in panel.lines if line.name]
    for place, line in enumerate(panel.lines):
        yield element("path", d=_path(line, x, y), class_=f"curve thin {series(place)}")
    right = WIDTH - RIGHT
    for place, name in reversed(list(enumerate(names))):
        if len(names) > 1:
            yield text(right, top - 7, name, anchor="end", class_=f"t {series(place)}")
            right -= 7 * len(name) + 14


def _path(line: Line, x: Scale, y: Scale) -> str:
    """Pieces of a line, which is broken where a value is not known."""
    parts, drawn = [], False
    ends = [at for at, _ in line.points[1:]] + [x.high]
    for (at, value), end in zip(line.points, ends, strict=True):
        if value is None:
            drawn = False
            continue
        level = y.at(value)
        parts.append(f"{'L' if drawn else 'M'}{x.at(at):.1f} {level:.1f}")
        if line.steps:
            parts.append(f"H{x.at(end):.1f}")
        drawn = True
    return "".join(parts)
