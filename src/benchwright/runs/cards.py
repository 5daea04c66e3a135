"""cards.json: the capabilities of a run's endpoints, as probed before the run's first trial."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchwright.endpoint.card import CARD_LINES, Card
from benchwright.endpoint.card.outcomes import UNKNOWN_OUTCOME
from benchwright.records import Record
from benchwright.runs.sidecar import read_sidecar, write_sidecar

CARDS_FILE = "cards.json"


class RunCards(Record, frozen=True):
    """Mapping from the slot of each target of a run to its capability card.

    A card holds only the findings that the run needed.
    """

    cards: dict[str, Card] = {}


def write_cards(directory: Path, cards: dict[str, Card]) -> None:
    """Write the cards of a run. They replace earlier cards.

    Raises:
        JournalError: If the directory cannot be written.
    """
    write_sidecar(directory / CARDS_FILE, RunCards(cards))


def read_cards(directory: Path) -> dict[str, Card]:
    """Read the cards of a run. Empty if the run has none.

    Raises:
        UserError: If the file cannot be read.
    """
    found = read_sidecar(directory / CARDS_FILE, RunCards)
    return {} if found is None else found.cards


def card_lines(card: Card) -> Iterator[tuple[str, str]]:
    """Yield (title, finding in words) for each line of a card with a known outcome, in order."""
    for key, line in CARD_LINES.items():
        found = card.findings.get(key)
        if found is not None and found.outcome != UNKNOWN_OUTCOME:
            yield line.title, found.said
