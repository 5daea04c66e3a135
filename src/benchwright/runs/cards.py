"""cards.json: what the endpoints of a run were found to do before its first trial."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchwright.endpoint.card import LINES, Card
from benchwright.endpoint.card.outcomes import UNKNOWN_OUTCOME
from benchwright.records import Record
from benchwright.runs.beside import read_beside, write_beside

CARDS = "cards.json"


class RunCards(Record, frozen=True):
    """The cards of a run's targets, by slot; each holds what the run needed to know."""

    cards: dict[str, Card] = {}


def write_cards(directory: Path, cards: dict[str, Card]) -> None:
    """Writes the cards of a run whole, in place of earlier ones.

    Raises:
        JournalError: The directory cannot be written.
    """
    write_beside(directory / CARDS, RunCards(cards))


def read_cards(directory: Path) -> dict[str, Card]:
    """Reads the cards of a run; empty if it has none.

    Raises:
        UserError: The file cannot be read.
    """
    found = read_beside(directory / CARDS, RunCards)
    return {} if found is None else found.cards


def card_lines(card: Card) -> Iterator[tuple[str, str]]:
    """Yields (title, what was found) of each line of a card that is known, in their order."""
    for key, line in LINES.items():
        found = card.findings.get(key)
        if found is not None and found.outcome != UNKNOWN_OUTCOME:
            yield line.title, found.said
