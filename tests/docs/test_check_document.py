"""docs/check.md lists every line of a card with all its outcomes."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from benchwright.endpoint.card import CARD_LINES, State
from benchwright.endpoint.card.outcomes import OUTCOMES, Outcome

DOCUMENT = Path(__file__).parents[2] / "docs" / "check.md"


def table() -> str:
    """Return the lines and outcomes as the document has them, a table for each group, without the last column."""
    parts = []
    for group, keys in groupby(CARD_LINES, key=lambda key: CARD_LINES[key].group):
        parts.append("\n".join([f"### {group}", "", "| key: line | yes | partly | no | ?",
                                "|---|---|---|---|---", *map(_row, keys)]))  # fmt: skip
    return "\n\n".join(parts)


def _row(key: str) -> str:
    cells = (
        "; ".join(
            _meaning(name, outcome) for name, outcome in OUTCOMES[key].items() if outcome.state is state
        )
        for state in (State.YES, State.PARTLY, State.NO, State.UNKNOWN)
    )
    return (f"| `{key}`: {CARD_LINES[key].title} | " + " | ".join(cells)).rstrip()


def _meaning(name: str, outcome: Outcome) -> str:
    """Return an outcome and what the card shows for it, without the details of a server and repetitions."""
    shown = re.sub(r"; \{times\}| \([^(]*\{\w+\}\)|: \{refusal\}|^\{\w+\}$", "", outcome.text)
    shown = re.sub(r"\{(\w+)[^}]*\}", r"*\1*", shown).replace("<think>", "`<think>`")
    return f"`{name}`: {shown}" if shown and shown not in name.replace("_", " ") else f"`{name}`"


def test_the_document_has_every_line_and_outcome_and_what_it_matters_for() -> None:
    section = DOCUMENT.read_text().partition("## All lines and outcomes\n\n")[2].partition("\n## ")[0]
    lines, last = [], []
    for line in section.rstrip().splitlines():
        start, bar, cell = line.removesuffix("|").rstrip().rpartition("|")
        lines.append(start.rstrip() if bar else line)
        last += [cell.strip()] if bar else []
    assert "\n".join(lines) == table(), f"docs/check.md should have:\n\n{table()}"
    assert all(last)
