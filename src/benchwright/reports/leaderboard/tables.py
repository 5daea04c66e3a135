"""The tables of a leaderboard: one wide table, or several tables that fit into a given width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.leaderboard.records import BoardColumn, BoardRow, Leaderboard
from benchwright.formats import count_with_noun
from benchwright.reports.comparison.sentences import CellText, ExternalText
from benchwright.reports.comparison.tables import TableBlock
from benchwright.reports.leaderboard.cell_texts import cell_text
from benchwright.reports.leaderboard.usage import usage_columns
from benchwright.text import make_safe

COLUMN_GAP = 2
MAX_HEADING_LENGTH = 24
"""Maximum number of characters of a column's name in tables that must be narrow."""


def has_letter_labels(board: Leaderboard) -> bool:
    """Return True if letters stand for the rows.

    That is so if model names are too long, are not plain text, or are not unique.
    """
    return any(row.name != row.title for row in board.rows)


def whole_table(board: Leaderboard) -> TableBlock:
    """Build one table with all columns and full model names."""
    shown = usage_columns(board.rows)
    columns: list[CellText] = [
        "Model",
        *(ExternalText(column.name) for column in board.columns),
        *(figure.heading for figure in shown),
    ]
    rows = [
        [ExternalText(row.title), *_cells(row, board.columns), *(figure.text(row) for figure in shown)]
        for row in board.rows
    ]
    return TableBlock("Leaderboard", columns, rows)


def fitting_tables(board: Leaderboard, room: int) -> Iterator[TableBlock]:
    """Yield tables of models, scores and usage figures, at most `room` characters wide if possible."""
    named = has_letter_labels(board)
    first = "" if named else "Model"
    if named:
        rows: list[list[CellText]] = [
            [row.letter, ExternalText(row.title), count_with_noun(len(row.runs), "run")] for row in board.rows
        ]
        yield TableBlock("Models", ["", "Model", ""], rows, left_columns=3)
    left = max([len(first), *(len(row.name) for row in board.rows)]) if board.rows else 0
    for columns in _chunks(board, room - left):
        places = [board.columns.index(column) for column in columns]
        yield TableBlock(
            "Scores",
            [first, *(ExternalText(shortened_heading(column.name)) for column in columns)],
            [
                [row.name, *(cell_text(row.cells[at], board.columns[at]) for at in places)]
                for row in board.rows
            ],
        )
    shown = usage_columns(board.rows)
    yield TableBlock(
        "Effort",
        [first, *(figure.heading for figure in shown)],
        [[row.name, *(figure.text(row) for figure in shown)] for row in board.rows],
    )


def shortened_heading(name: str) -> str:
    """Return a column's name, made safe for a terminal. If the name is long, its middle is left out."""
    name = make_safe(name)
    if len(name) <= MAX_HEADING_LENGTH:
        return name
    return f"{name[: MAX_HEADING_LENGTH - 10]}…{name[-9:]}"


def _chunks(board: Leaderboard, room: int) -> Iterator[list[BoardColumn]]:
    """Split the columns into groups of neighbours. Each group has as many columns as fit into `room` characters."""
    chunk: list[BoardColumn] = []
    used = 0
    for place, column in enumerate(board.columns):
        cells = (len(cell_text(row.cells[place], column)) for row in board.rows)
        width = COLUMN_GAP + max(len(shortened_heading(column.name)), *cells, 0)
        if chunk and used + width > room:
            yield chunk
            chunk, used = [], 0
        chunk.append(column)
        used += width
    if chunk:
        yield chunk


def _cells(row: BoardRow, columns: Sequence[BoardColumn]) -> list[CellText]:
    return [cell_text(cell, column) for cell, column in zip(row.cells, columns, strict=True)]
