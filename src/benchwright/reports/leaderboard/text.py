"""A leaderboard for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from benchwright.analysis.leaderboard.records import Leaderboard
from benchwright.reports.leaderboard.cell_texts import leaderboard_notes
from benchwright.reports.leaderboard.tables import fitting_tables
from benchwright.reports.terminal import render_block, render_line


def render_board(board: Leaderboard, room: int) -> RenderableType:
    """Render a leaderboard as tables at most `room` characters wide, then its notes."""
    parts: list[RenderableType] = []
    for block in fitting_tables(board, room):
        parts += [*render_block(block), Text("")]
    return Group(*parts, *map(render_line, leaderboard_notes(board)))
