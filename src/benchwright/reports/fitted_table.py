"""Tables that fit into their terminal. Text wraps at word ends, and columns that do not fit form further tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.reports.comparison.sentences import CellText, ExternalText
from benchwright.reports.comparison.tables import TableBlock
from benchwright.text import make_safe

COLUMN_GAP = 2
MIN_COLUMN_WIDTH = 10
"""Minimum width of a column of words, in characters."""


class FittedTable:
    """Renders a table (`TableBlock`). If it is too wide, it becomes several tables, one below the other.

    Each of these tables repeats the columns of words.
    """

    def __init__(self, block: TableBlock) -> None:
        self._block = block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield the tables, fitted to the available width."""
        block, room = self._block, options.max_width
        texts = [[cell_text(cell) for cell in row] for row in (block.columns, *block.rows)]
        natural = [max(map(len, column)) for column in zip(*texts, strict=True)]
        words, figures = range(block.left_columns), range(block.left_columns, len(natural))
        least = {place: min(natural[place], MIN_COLUMN_WIDTH) for place in words}
        for number, some in enumerate(
            _shared_out(figures, natural, room - sum(width + COLUMN_GAP for width in least.values()))
        ):
            if number:
                yield Text("")
            left = room - sum(natural[place] + COLUMN_GAP for place in some)
            widths = {**_widened(least, natural, left), **{place: natural[place] for place in some}}
            yield _table(texts, widths, block.left_columns)


def cell_text(cell: CellText) -> str:
    """Return the text of a cell, made safe for a terminal."""
    return make_safe(cell.text) if isinstance(cell, ExternalText) else cell


def wrap_text(text: str, width: int) -> str:
    """Wrap a text at `width` characters. If possible, break lines after a dash, slash, underscore, colon or space."""
    lines = [""]
    for part in re.findall(r"[^-/_: ]*[-/_: ]|[^-/_: ]+", text):
        if lines[-1] and len((lines[-1] + part).rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _shared_out(figures: range, natural: Sequence[int], room: int) -> list[list[int]]:
    """Distribute the columns of figures over several tables.

    Each table gets as many columns as fit into `room`, but at least one.
    """
    tables: list[list[int]] = [[]]
    for place in figures:
        used = sum(natural[one] + COLUMN_GAP for one in tables[-1])
        if tables[-1] and used + natural[place] > room:
            tables.append([])
        tables[-1].append(place)
    return tables


def _widened(least: dict[int, int], natural: Sequence[int], room: int) -> dict[int, int]:
    """Return the widths of the columns of words. The narrowest column is widened repeatedly until `room` is used up."""
    widths = dict(least)
    left = room - sum(width + COLUMN_GAP for width in widths.values()) + COLUMN_GAP
    while left > 0 and (growing := [place for place in widths if widths[place] < natural[place]]):
        widths[min(growing, key=widths.__getitem__)] += 1
        left -= 1
    return widths


def _table(texts: Sequence[Sequence[str]], widths: dict[int, int], left: int) -> Table:
    heads, *rows = texts
    table = Table(box=None, pad_edge=False, padding=(0, COLUMN_GAP, 0, 0))
    for place, width in widths.items():
        words = place < left
        table.add_column(
            wrap_text(heads[place], width) if words else heads[place],
            justify="left" if words else "right",
            overflow="fold",
            width=width,
        )
    for row in rows:
        table.add_row(
            *(
                Text(wrap_text(row[place], width) if place < left else row[place])
                for place, width in widths.items()
            )
        )
    return table
