"""Table of the command-line agents."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table

from benchwright.records import Record
from benchwright.text import make_safe


class AgentLine(Record, frozen=True):
    """One row of the table of agents.

    `is_installable` is False if the agent's recipe installs nothing. `last_verified` is the version and date of the
    last test with the real agent. It is empty if there was no test. `newest` is the newest published version. It is
    empty if that version is unknown.
    """

    name: str
    title: str
    version: str
    dialect: str
    note: str
    installed: bool
    is_installable: bool
    last_verified: str = ""
    newest_version: str = ""


def render_agents(agents: Sequence[AgentLine]) -> RenderableType:
    """Render a table with one row per agent.

    The column of newest versions is left out if no newest version is known.
    """
    asked = any(one.newest_version for one in agents)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in (
        "Agent",
        "Program",
        "Version",
        *["Newest"] * asked,
        "Tried",
        "Asks in",
        "Installed",
        "Note",
    ):
        table.add_column(column, overflow="fold")
    for one in agents:
        installed = "yes" if one.installed else "no" if one.is_installable else "–"
        newest = [make_safe(one.newest_version) or "–"] * asked
        table.add_row(
            *map(make_safe, (one.name, one.title, one.version)),
            *newest,
            one.last_verified or "–",
            one.dialect,
            installed,
            make_safe(one.note),
        )
    return table
