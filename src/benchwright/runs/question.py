"""question.json: the statistical question that a run with `--until` must decide, and the order of its samples.

The file is written before the first trial and never changed, so that everybody who resumes or reads the run
comes to the same decision.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import xxhash

from benchwright.records import Amount, Record
from benchwright.runs.sidecar import read_sidecar, write_sidecar

QUESTION_FILE = "question.json"

QuestionGoal = Literal["difference", "not_worse"]
"""The goal of a question. `difference`: find the better model.

`not_worse`: show that the new model is not worse by more than the margin.
"""


class EarlierScores(Record, frozen=True):
    """The old model's scores, taken from another run or a file (`--against`).

    `scores`: {score: {sample: (least, most)}}. `least` and `most` are the lowest and the highest possible
    value of the sample's score, on a scale from 0 to 1. They differ if answers failed. `others`: {score:
    [{sample: mean}]}, the mean scores of further models on the same samples, with one mapping for each model.
    """

    reference: str
    model: str
    run: str | None = None
    scores: dict[str, dict[str, tuple[float, float]]] = {}
    others: dict[str, list[dict[str, float]]] = {}


class Question(Record, frozen=True):
    """The question to decide, its margin and its probability of error.

    `margin` and differences are in units of the scores. `finite`: True if the question is about exactly these
    samples; False if it is about all questions of their kind. `reference`: slot of the old model, if this run
    asks the old model too. `units`: the sampling units in the order in which they are run, drawn with `seed`. A
    unit is one sample, or all samples of a cluster. `scores`: names of the scores to decide on.
    """

    goal: QuestionGoal
    margin: float
    error: float
    at_least: Amount
    finite: bool
    scores: list[str]
    seed: Amount
    units: list[list[str]]
    reference: str = ""
    earlier: EarlierScores | None = None

    @property
    def samples(self) -> int:
        """Number of samples in all units."""
        return sum(map(len, self.units))


def shuffle_units(units: dict[str, list[str]], seed: int) -> list[list[str]]:
    """Return the units in a random order. It depends only on the names of the units and on the seed."""
    return [
        units[name] for name in sorted(units, key=lambda name: xxhash.xxh3_128_digest(name.encode(), seed))
    ]


def write_question(directory: Path, question: Question) -> None:
    """Write question.json atomically.

    Raises:
        JournalError: If the directory cannot be written.
    """
    write_sidecar(directory / QUESTION_FILE, question)


def read_question(directory: Path) -> Question | None:
    """Read question.json. Return None if the run has no question.

    Raises:
        UserError: If the file cannot be read.
    """
    return read_sidecar(directory / QUESTION_FILE, Question)
