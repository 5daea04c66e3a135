"""Chart of differences with their intervals: a line for the score, and a line for each part of a breakdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from benchwright.formats import count_with_noun
from benchwright.reports.html.charts.scales import Scale, score_label
from benchwright.reports.html.charts.svg import (
    DRAWING_WIDTH,
    bottom_axis,
    element,
    line,
    render_drawing,
    text,
)
from benchwright.reports.html.text import one_line

LEFT, RIGHT, TOP = 176, 178, 6
ROW_HEIGHT = 22


class DifferenceBar(NamedTuple):
    """One line of the chart: its name, the difference, and the interval of the difference.

    `is_overall`: True for the line of the whole score, which is emphasised.
    """

    name: str
    difference: float
    low: float | None
    high: float | None
    is_overall: bool = False


def differences_chart(title: str, axis: str, bars: Sequence[DifferenceBar]) -> Markup:
    """Draw a point and an interval for each difference. The colour shows whether 0 is outside the interval."""
    scale = _scale(bars)
    bottom = TOP + ROW_HEIGHT * len(bars)
    parts = bottom_axis(scale, TOP, bottom, signed_label, axis)
    parts.append(line(scale.coordinate(0), TOP, scale.coordinate(0), bottom, "zero"))
    for number, bar in enumerate(bars):
        parts += _bar(bar, TOP + (number + 0.5) * ROW_HEIGHT, scale)
    description = f"{count_with_noun(len(bars), 'line')}; the figures are in the table below."
    return render_drawing(title, description, bottom + 42, parts)


def _scale(bars: Sequence[DifferenceBar]) -> Scale:
    """Return a scale that covers all intervals and 0."""
    ends = [end for bar in bars for end in (bar.difference, bar.low, bar.high) if end is not None]
    low, high = min(0.0, *ends), max(0.0, *ends)
    room = (high - low) * 0.05 or 0.05
    return Scale(low - room, high + room, LEFT, DRAWING_WIDTH - RIGHT)


def signed_label(value: float) -> str:
    """Format a tick on an axis of differences, with its sign."""
    return "0" if abs(value) < 1e-9 else f"{'+' if value > 0 else '−'}{score_label(abs(value))}"


def _bar(bar: DifferenceBar, middle: float, scale: Scale) -> Iterator[Markup]:
    weight = " whole" if bar.is_overall else ""
    yield text(LEFT - 10, middle + 4, one_line(bar.name, 21), anchor="end", class_=f"t label{weight}")
    description = f"{bar.difference:+.3f}"
    kind = "even"
    if bar.low is not None and bar.high is not None:
        kind = "better" if bar.low > 0 else "worse" if bar.high < 0 else "even"
        low, high = scale.coordinate(bar.low), scale.coordinate(bar.high)
        yield line(low, middle, high, middle, f"reach {kind}")
        yield from (line(end, middle - 4, end, middle + 4, f"reach {kind}") for end in (low, high))
        description += f" [{bar.low:+.3f}, {bar.high:+.3f}]"
    radius = 5.5 if bar.is_overall else 4
    yield element("circle", cx=scale.coordinate(bar.difference), cy=middle, r=radius, class_=f"point {kind}")
    yield text(DRAWING_WIDTH, middle + 4, description, anchor="end", class_=f"t number{weight}")
