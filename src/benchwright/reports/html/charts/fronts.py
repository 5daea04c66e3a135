"""Chart of quality against time, tokens or cost, with the Pareto front of the models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from benchwright.analysis.quality_and_speed.pareto_fronts import FrontPoint, ParetoFront, Resource
from benchwright.reports.html.charts.scales import (
    Scale,
    amount_label,
    score_label,
    time_label,
    time_scale,
    zoomed_scale,
)
from benchwright.reports.html.charts.svg import (
    DRAWING_WIDTH,
    bottom_axis,
    colour_class,
    element,
    left_axis,
    line,
    render_drawing,
    text,
)
from benchwright.reports.html.text import one_line

LEFT, RIGHT, TOP, HEIGHT = 58, 24, 14, 250
CHARACTER_WIDTH = 7
"""Estimated width of one character of a model's name, in units of the drawing."""

AXIS_TITLES: dict[Resource, str] = {
    "seconds": "median time that the model took for a trial",
    "tokens": "mean tokens of a trial, prompt and completion",
    "cost": "mean cost of a trial",
}


def front_chart(found: ParetoFront, places: Mapping[str, int], names: Mapping[str, str]) -> Markup:
    """Draw a point with its interval for each model, and the Pareto front as a line.

    A letter (A, B, …) identifies each run. `places`: mapping from letter to the index of the run's colour. `names`:
    mapping from letter to the run's name.
    """
    bottom = TOP + HEIGHT
    label = time_label if found.spent == "seconds" else amount_label
    x = time_scale((point.spent for point in found.points), LEFT, DRAWING_WIDTH - RIGHT)
    ends = [end for one in found.points for end in (one.mean, one.low, one.high) if end is not None]
    y = zoomed_scale(ends, bottom, TOP)
    title = AXIS_TITLES[found.spent] + (", logarithmic" if x.is_logarithmic else "")
    parts = [
        *left_axis(y, LEFT, DRAWING_WIDTH - RIGHT, score_label),
        *bottom_axis(x, TOP, bottom, label, title),
        _steps([point for point in found.points if point.on_front], x, y),
    ]
    for point in found.points:
        parts += _point(point, x, y, places[point.letter])
    parts += _names(found.points, x, y, names)
    description = "; ".join(
        f"{names[one.letter]}: {one.mean:.3f} at {label(one.spent)}{', on the front' if one.on_front else ''}"
        for one in found.points
    )
    return render_drawing(
        f"{found.score} against {AXIS_TITLES[found.spent]}", description, bottom + 42, parts
    )


def _steps(points: Sequence[FrontPoint], x: Scale, y: Scale) -> Markup:
    """Draw the Pareto front as steps.

    At each value of the x axis (time, tokens or cost), the step shows the best mean of the models that need at most
    that much.
    """
    path = [f"M{x.coordinate(points[0].spent):.1f} {y.coordinate(points[0].mean):.1f}"]
    path += [f"H{x.coordinate(point.spent):.1f}V{y.coordinate(point.mean):.1f}" for point in points[1:]]
    return element("path", d="".join(path) + f"H{x.end:.1f}", class_="front")


def _point(point: FrontPoint, x: Scale, y: Scale, place: int) -> Iterator[Markup]:
    at = x.coordinate(point.spent)
    if point.low is not None and point.high is not None:
        yield line(at, y.coordinate(point.low), at, y.coordinate(point.high), "whisker")
    behind = "" if point.on_front else " behind"
    yield element(
        "circle", cx=at, cy=y.coordinate(point.mean), r=5, class_=f"point {colour_class(place)}{behind}"
    )


def _names(points: Sequence[FrontPoint], x: Scale, y: Scale, names: Mapping[str, str]) -> Iterator[Markup]:
    """Yield the names of the models beside their points. A name that would overlap another name is moved down."""
    taken: list[tuple[float, float, float]] = []
    for point in sorted(points, key=lambda one: -one.mean):
        name = one_line(names[point.letter], 24)
        width, at = CHARACTER_WIDTH * len(name), x.coordinate(point.spent)
        right = at + 9 + width <= DRAWING_WIDTH
        start = at + 9 if right else at - 9 - width
        level = y.coordinate(point.mean) + 4
        while any(
            start < end and begin < start + width and abs(level - other) < 14 for begin, end, other in taken
        ):
            level += 14
        taken.append((start, start + width, level))
        yield text(
            at + 9 if right else at - 9, level, name, anchor="start" if right else "end", class_="t halo"
        )
