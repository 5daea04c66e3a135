"""Chart of the distribution of times at load levels: a cumulative curve for each level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from benchwright.analysis.load.plot_data import DistributionPoints
from benchwright.reports.html.charts.loads import LEFT, MAX_NAME_LENGTH
from benchwright.reports.html.charts.scales import Scale, time_label, time_scale
from benchwright.reports.html.charts.svg import (
    DRAWING_WIDTH,
    bottom_axis,
    colour_class,
    element,
    left_axis,
    left_axis_title,
    legend,
    render_drawing,
)
from benchwright.reports.html.text import one_line

RIGHT, TOP, HEIGHT = 24, 26, 220

LEAST, MOST, SHORTEST = 0.05, 0.995, 1e-4
"""Range of the time axis. `LEAST`, `MOST`: quantiles, as shares. `SHORTEST`: a time in seconds.

A linear axis begins at 0. A logarithmic axis begins at the quantile `LEAST` of the fastest curve. Both end at the
quantile `MOST` of the slowest curve. A few extreme times would otherwise squeeze all others. Times below `SHORTEST`
seconds are drawn at `SHORTEST`, because shorter gaps come from the network.
"""


class TimesCurve(NamedTuple):
    """Curve of the distribution of times at one load level: its name, the index of its colour, and its points.

    A point is (seconds, share of times up to that time).
    """

    name: str
    colour_index: int
    points: DistributionPoints


def level_times_chart(title: str, axis: str, curves: Sequence[TimesCurve]) -> Markup:
    """Draw the cumulative distribution of times (share that took no longer), with one curve for each load level.

    Each curve consists of straight lines between its points.
    """
    named, room = legend(
        [(one_line(one.name, MAX_NAME_LENGTH), colour_class(one.colour_index)) for one in curves], LEFT, 0
    )
    top = TOP + room
    bottom = top + HEIGHT
    x = time_scale((time for one in curves for time in _ends(one.points)), LEFT, DRAWING_WIDTH - RIGHT)
    y = Scale(0, 1, bottom, top)
    parts = [
        *named,
        left_axis_title("Share that took no longer", room),
        *left_axis(y, LEFT, DRAWING_WIDTH - RIGHT, lambda share: f"{share * 100:.0f} %"),
        *bottom_axis(x, top, bottom, time_label, axis + (", logarithmic" if x.is_logarithmic else "")),
    ]
    for one in curves:
        path = "L".join(
            f"{x.coordinate(time):.1f} {y.coordinate(share):.1f}"
            for time, share in _drawn(one.points, x.high)
        )
        parts.append(element("path", d=f"M{path}", class_=f"curve {colour_class(one.colour_index)}"))
    description = "; ".join(
        f"{one.name}: half within {time_label(_reached(one.points, 0.5))}" for one in curves
    )
    return render_drawing(title, description, bottom + 42, parts)


def _drawn(points: DistributionPoints, high: float) -> DistributionPoints:
    """Return the points of a curve from share 0 up to the time `high`, the end of the axis.

    The last point is interpolated.
    """
    inside = [point for point in points if point[0] <= high]
    if len(inside) < len(points) and inside:
        (time, share), (later, more) = inside[-1], points[len(inside)]
        inside.append((high, share + (more - share) * (high - time) / (later - time)))
    return [(points[0][0], 0.0), *inside]


def _ends(points: DistributionPoints) -> tuple[float, float]:
    return max(SHORTEST, _reached(points, LEAST)), _reached(points, MOST)


def _reached(points: DistributionPoints, share: float) -> float:
    return next((time for time, reached in points if reached >= share), points[-1][0])
