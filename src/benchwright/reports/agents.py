"""The command-line agents, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table

from benchwright.records import Record
from benchwright.text import plain


class AgentLine(Record, frozen=True):
    """One agent as the table shows it; `installs` is false where its recipe installs nothing."""

    name: str
    title: str
    version: str
    dialect: str
    note: str
    installed: bool
    installs: bool


def render_agents(agents: Sequence[AgentLine]) -> RenderableType:
    """One row per agent."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("Agent", "Program", "Version", "Asks in", "Installed", "Note"):
        table.add_column(column, overflow="fold")
    for one in agents:
        installed = "yes" if one.installed else "no" if one.installs else "–"
        table.add_row(
            *map(plain, (one.name, one.title, one.version)), one.dialect, installed, plain(one.note)
        )
    return table
