"""Renders boxed tables as plain text, for listings that must be quick.

The import of rich would take most of their time.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.text import make_safe


def render_box(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], centred: Sequence[int] = ()
) -> str:
    """Render a boxed table as text. `centred`: the indexes of the centred columns."""
    cells = [[make_safe(cell) for cell in row] for row in [columns, *rows]]
    widths = [max(_width(row[place]) for row in cells) for place in range(len(columns))]
    lines = [_rule("┌┬┐", widths), _line(cells[0], widths, centred), _rule("├┼┤", widths)]
    lines += [_line(row, widths, centred) for row in cells[1:]]
    lines.append(_rule("└┴┘", widths))
    return "\n".join([title.center(len(lines[0])).rstrip(), *lines])


def _rule(corners: str, widths: Sequence[int]) -> str:
    return corners[0] + corners[1].join("─" * (width + 2) for width in widths) + corners[2]


def _line(cells: Sequence[str], widths: Sequence[int], centred: Sequence[int]) -> str:
    padded = [
        _padded(cell, width, centred=place in centred)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return f"│ {' │ '.join(padded)} │"


def _padded(cell: str, width: int, *, centred: bool) -> str:
    room = width - _width(cell)
    before = room // 2 if centred else 0
    return " " * before + cell + " " * (room - before)


def _width(text: str) -> int:
    """Return the width of a text in terminal columns. A wide East Asian character takes two columns."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
