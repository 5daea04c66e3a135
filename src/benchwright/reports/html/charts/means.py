"""Charts of means with their intervals (scores of runs, breakdowns), and charts of counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from benchwright.analysis.report.records import ChartMean, ChartRow
from benchwright.formats import count_with_noun
from benchwright.reports.html.charts.scales import Scale, score_label, score_scale
from benchwright.reports.html.charts.svg import (
    DRAWING_WIDTH,
    bottom_axis,
    colour_class,
    line,
    rectangle,
    render_drawing,
    text,
)
from benchwright.reports.html.text import one_line
from benchwright.statistic import is_number, numeric_statistics

LEFT, RIGHT, TOP = 176, 150, 6
MARK_HEIGHT = 17
BAR_GAP = 9


def means_chart(title: str, axis: str, rows: Sequence[ChartRow], places: Mapping[str, int]) -> Markup:
    """Draw a bar for each mean, with a whisker for its interval. Return empty markup if no row has a mean.

    `places`: mapping from the letter of a run to the index of its colour.
    """
    ends = numeric_statistics(
        end for row in rows for mark in row.marks for end in (mark.mean, mark.low, mark.high)
    )
    if not ends:
        return Markup()
    scale = score_scale(ends, LEFT, DRAWING_WIDTH - RIGHT)
    heights = [MARK_HEIGHT * max(1, len(row.marks)) + BAR_GAP for row in rows]
    bottom = TOP + sum(heights)
    parts = bottom_axis(scale, TOP, bottom, score_label, axis)
    y = float(TOP)
    for row, height in zip(rows, heights, strict=True):
        parts += _row(row, y, height, scale, places)
        y += height
    description = f"{count_with_noun(len(rows), 'line')}; the figures are in the table below."
    return render_drawing(title, description, bottom + 42, parts)


def _row(row: ChartRow, y: float, height: float, scale: Scale, places: Mapping[str, int]) -> Iterator[Markup]:
    name = one_line(row.name, 21)
    yield text(LEFT - 10, y + height / 2 + 4, name, anchor="end", class_="t label")
    for number, mark in enumerate(row.marks):
        yield from _mark(mark, y + BAR_GAP / 2 + number * MARK_HEIGHT, scale, places[mark.letter])


def _mark(mark: ChartMean, top: float, scale: Scale, place: int) -> Iterator[Markup]:
    middle = top + MARK_HEIGHT / 2
    if not is_number(mark.mean):
        yield text(scale.coordinate(0) + 4, middle + 4, "no score", class_="t quiet")
        return
    left, right = sorted((scale.coordinate(0), scale.coordinate(mark.mean)))
    yield rectangle(left, top + 3, max(right - left, 2), MARK_HEIGHT - 6, f"bar {colour_class(place)}")
    description = f"{mark.mean:.3f}"
    if is_number(mark.low) and is_number(mark.high):
        low, high = scale.coordinate(mark.low), scale.coordinate(mark.high)
        yield line(low, middle, high, middle, "whisker")
        yield from (line(end, middle - 3, end, middle + 3, "whisker") for end in (low, high))
        description += f" [{mark.low:.3f}, {mark.high:.3f}]"
    yield text(DRAWING_WIDTH, middle + 4, description, anchor="end", class_="t number")


def stacked_bar(title: str, counts: Sequence[tuple[str, int]]) -> Markup:
    """Draw counts as segments of one bar. The CSS class of each segment is the name of its status."""
    total = sum(count for _, count in counts) or 1
    parts = []
    x = 0.0
    for name, count in counts:
        width = DRAWING_WIDTH * count / total
        parts.append(rectangle(x, 0, width, 14, f"status {name.replace('_', '-').replace(' ', '-')}"))
        x += width
    description = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts)
    return render_drawing(title, description, 14, parts)
