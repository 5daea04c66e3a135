"""The capability card of an endpoint (what it supports), as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.endpoint.card import CARD_LINES, Card, Finding, State
from benchwright.formats import count_with_noun
from benchwright.text import make_safe

WIDE_TERMINAL = 110
"""Minimum width of a terminal, in columns, at which consequences are printed beside the findings instead of below."""

_STYLES = {State.YES: "green", State.PARTLY: "yellow", State.NO: "red", State.UNKNOWN: "dim"}
_WORDS = {State.YES: "yes", State.PARTLY: "partly", State.NO: "no", State.UNKNOWN: "?"}


class CardTable:
    """The lines of a capability card, under headings. Columns are aligned across all headings."""

    def __init__(self, card: Card) -> None:
        self._card = card

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield each heading and the table below the heading, fitted to the available width."""
        findings = self._card.findings
        shown = [(line, findings[key]) for key, line in CARD_LINES.items() if key in findings]
        titles = max(len(line.title) for line, _ in shown)
        for group, lines in groupby(shown, key=lambda each: each[0].group):
            table = _table(titles, wide=options.max_width >= WIDE_TERMINAL)
            for line, finding in lines:
                table.add_row(line.title, *_cells(finding, wide=options.max_width >= WIDE_TERMINAL))
            yield Text(f"\n{group}", style="bold")
            yield table


def render_card(card: Card) -> RenderableType:
    """Render a capability card as a table.

    Below it is a line with the requests and seconds that the examination took.
    """
    end = (
        f"\n{count_with_noun(card.requests, 'request')} in {card.seconds:.1f} s. docs/check.md "
        "says what each line means."
    )
    if card.late:
        end += (
            f"\n{count_with_noun(card.late, 'request')} had no answer in time: --request-seconds "
            "gives a slow server more."
        )
    return Group(CardTable(card), Text(end, style="dim"))


def _table(titles: int, *, wide: bool) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False, expand=True)
    table.add_column(width=titles + 2, no_wrap=True)
    table.add_column(width=max(map(len, _WORDS.values())), no_wrap=True)
    table.add_column(ratio=1)
    if wide:
        table.add_column(ratio=1)
    return table


def _cells(finding: Finding, *, wide: bool) -> list[Text]:
    state = Text(_WORDS[finding.state], style=_STYLES[finding.state])
    said = Text(make_safe(finding.said))
    if wide:
        return [state, said, Text(make_safe(finding.follows), style="dim")]
    if finding.follows:
        said.append(f"\n{make_safe(finding.follows)}", style="dim")
    return [state, said]
