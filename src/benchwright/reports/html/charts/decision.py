"""Chart of how the interval of a difference narrowed with the samples used, with 0 and the margin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from benchwright.analysis.deciding.records import DecisionPoint, ModelDecision, RunDecision
from benchwright.formats import format_interval, number_text
from benchwright.reports.html.charts.differences import signed_label
from benchwright.reports.html.charts.scales import Scale, amount_label
from benchwright.reports.html.charts.svg import (
    DRAWING_WIDTH,
    bottom_axis,
    element,
    left_axis,
    line,
    render_drawing,
)

LEFT, RIGHT, TOP, HEIGHT = 58, 24, 14, 220
MAX_INTERVAL_SHARE = 0.4
"""An interval determines the range of the y axis only if it is narrower than this share of the first interval.

The first intervals are so wide that they would squeeze all other intervals.
"""


def interval_chart(one: ModelDecision, decision: RunDecision) -> Markup:
    """Draw the difference between two models, with its interval, by the number of samples used.

    Lines mark a difference of 0 and the margin.
    """
    bottom = TOP + HEIGHT
    x = Scale(0.0, float(decision.planned), LEFT, DRAWING_WIDTH - RIGHT)
    y = _differences(one, decision.margin, bottom)
    parts = [
        *left_axis(y, LEFT, DRAWING_WIDTH - RIGHT, signed_label),
        *bottom_axis(x, TOP, bottom, amount_label, "samples used"),
        line(LEFT, y.coordinate(0), DRAWING_WIDTH - RIGHT, y.coordinate(0), "zero"),
        *_margins(decision.margin, y),
        *_path(one.path, x, y),
    ]
    description = (
        f"{number_text(one.difference, '+.3f')} {format_interval(one.low, one.high, '+.3f')} "
        f"after {one.used:,} of {decision.planned:,}"
    )
    return render_drawing(f"{one.model} against {one.than}, {one.score}", description, bottom + 42, parts)


def _differences(one: ModelDecision, margin: float, bottom: float) -> Scale:
    """Return a y scale that covers 0, the margin, and the intervals that are narrow "
    "enough (see `MAX_INTERVAL_SHARE`)."""
    widest = one.path[0].high - one.path[0].low
    description = [
        each for each in one.path if each.high - each.low <= MAX_INTERVAL_SHARE * widest
    ] or one.path
    ends = [0.0, margin, -margin, *(end for each in description for end in (each.low, each.high))]
    room = (max(ends) - min(ends)) * 0.05 or 0.05
    return Scale(min(ends) - room, max(ends) + room, bottom, TOP)


def _margins(margin: float, y: Scale) -> Iterator[Markup]:
    if margin:
        for end in (margin, -margin):
            yield line(LEFT, y.coordinate(end), DRAWING_WIDTH - RIGHT, y.coordinate(end), "front")


def _path(path: Sequence[DecisionPoint], x: Scale, y: Scale) -> Iterator[Markup]:
    above = [f"{x.coordinate(one.samples):.1f} {y.coordinate(one.high):.1f}" for one in path]
    below = [f"{x.coordinate(one.samples):.1f} {y.coordinate(one.low):.1f}" for one in reversed(path)]
    yield element("path", d=f"M{'L'.join([*above, *below])}Z", class_="band")
    middle = "L".join(f"{x.coordinate(one.samples):.1f} {y.coordinate(one.difference):.1f}" for one in path)
    yield element("path", d=f"M{middle}", class_="curve s0")
    last = path[-1]
    yield line(
        x.coordinate(last.samples),
        y.coordinate(last.low),
        x.coordinate(last.samples),
        y.coordinate(last.high),
        "whisker",
    )
    yield element(
        "circle", cx=x.coordinate(last.samples), cy=y.coordinate(last.difference), r=4, class_="point s0"
    )
