"""The findings of the command `doctor` about this machine, line by line, with advice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.text import make_safe

_STYLES = {"ok": "green", "missing": "yellow", "problem": "bold red"}


class Finding(NamedTuple):
    """One finding of `doctor` about this machine.

    `state` is "ok", "missing" or "problem", `subject` the thing that was checked, and `text` what was found.
    `needed_for` names what needs the thing, and `what_to_do` is the advice; each is None if there is nothing
    to add.
    """

    state: str
    subject: str
    text: str
    needed_for: str | None
    what_to_do: str | None


def render_findings(lines: Iterable[Finding]) -> RenderableType:
    """Render a table of states, subjects and findings.

    Below each finding is what needs it, and the advice.
    """
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for _ in range(2):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for line in lines:
        table.add_row(Text(line.state, style=_STYLES[line.state]), make_safe(line.subject), _told(line))
    return table


def _told(line: Finding) -> Text:
    told = Text(make_safe(line.text))
    if line.needed_for and line.state != "ok":
        only = "only " if line.state == "missing" else ""
        told.append(f"\n{only}needed for {make_safe(line.needed_for)}")
    if line.what_to_do:
        told.append(f"\n→ {make_safe(line.what_to_do)}")
    return told
