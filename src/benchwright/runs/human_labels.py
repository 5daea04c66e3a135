"""Human labels for answers that a judge model has scored, in a sidecar file of the run."""

from __future__ import annotations

from pathlib import Path

from benchwright.records import Amount, Record
from benchwright.runs.sidecar import read_sidecar, write_sidecar

LABELS_FILE = "judge_labels.json"


class RunAnswerLabel(Record, frozen=True):
    """A human label for an answer of this run: the answer of one attempt at a trial.

    `length` is the answer's length in characters.
    """

    trial: str
    sample: str
    attempt: Amount
    label: float
    length: Amount


class OutsideAnswerLabel(Record, frozen=True):
    """A human label for an answer from outside the run, and the verdict of the run's judge on that answer.

    `length` is the answer's length in characters.
    """

    label: float
    verdict: float
    length: Amount


class HumanLabels(Record, frozen=True):
    """The human labels, from 0 (wrong) to 1 (right), for the answers that one scorer of a run has judged.

    `own`: labels for answers of the run. `others`: labels for answers from outside the run. `source`: the name
    of the file with the labels. `unjudged`: number of answers from outside that have no verdict.
    """

    source: str
    scorer: str
    own: list[RunAnswerLabel] = []
    others: list[OutsideAnswerLabel] = []
    unjudged: Amount = 0


def write_labels(directory: Path, labels: HumanLabels) -> None:
    """Store labels with a run. They replace the run's earlier labels.

    Raises:
        JournalError: If the directory cannot be written.
    """
    write_sidecar(directory / LABELS_FILE, labels)


def read_labels(directory: Path) -> HumanLabels | None:
    """Read the labels of a run. Return None if the run has none.

    Raises:
        UserError: If the file cannot be read.
    """
    return read_sidecar(directory / LABELS_FILE, HumanLabels)
