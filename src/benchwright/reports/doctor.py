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

    `state`: "ok", "missing" or "problem". `subject`: the thing that was checked. `text`: the result of the check.
    `needed_for`: the features that need the thing, or None. `what_to_do`: advice, or None.
    """

    state: str
    subject: str
    text: str
    needed_for: str | None
    what_to_do: str | None


def render_findings(lines: Iterable[Finding]) -> RenderableType:
    """Render a table of states, subjects and findings.

    Below each finding are the features that need its subject, and the advice.
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
