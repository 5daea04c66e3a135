"""question.json: what a run with `--until` is to decide, and in which order its samples are asked.

It is written before a trial is begun for it and never changed, so that whoever goes on with the run, and whoever looks
at it, comes to the same decision.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import xxhash

from benchwright.records import Amount, Record
from benchwright.runs.beside import read_beside, write_beside

QUESTION = "question.json"

Goal = Literal["difference", "not_worse"]
"""What is to be known: which model is better, or whether the new one is not worse than the margin."""


class Earlier(Record, frozen=True):
    """The old model's answers, given in another run or found in a file (`--against`).

    `scores` has for each score the least and the most that it can be for each sample, on the scale from 0 to 1: they
    differ where answers failed. `others` has the scores of further models on the same samples.
    """

    reference: str
    model: str
    run: str | None = None
    scores: dict[str, dict[str, tuple[float, float]]] = {}
    others: dict[str, list[dict[str, float]]] = {}


class Question(Record, frozen=True):
    """What is to be decided, with which error.

    `margin` and the differences are in units of the scores. `finite`: about these samples, not about all questions of
    their kind. `reference` is the slot of the old model, where it is asked, too. `units` are the samples in the order
    in which they are asked, drawn with `seed`; the samples of a group are one unit. `scores` are decided on.
    """

    goal: Goal
    margin: float
    error: float
    at_least: Amount
    finite: bool
    scores: list[str]
    seed: Amount
    units: list[list[str]]
    reference: str = ""
    earlier: Earlier | None = None

    @property
    def samples(self) -> int:
        """How many samples the question is about."""
        return sum(map(len, self.units))


def shuffled(units: dict[str, list[str]], seed: int) -> list[list[str]]:
    """The units, by their names, in the order that the seed gives them; the order in which they came is no matter."""
    return [
        units[name] for name in sorted(units, key=lambda name: xxhash.xxh3_128_digest(name.encode(), seed))
    ]


def write_question(directory: Path, question: Question) -> None:
    """Writes question.json whole.

    Raises:
        JournalError: the directory cannot be written.
    """
    write_beside(directory / QUESTION, question)


def read_question(directory: Path) -> Question | None:
    """Reads question.json; None where the run has no question.

    Raises:
        UserError: it cannot be read.
    """
    return read_beside(directory / QUESTION, Question)
