"""What people said of answers that a judge has scored, kept beside the journal of the run."""

from __future__ import annotations

from pathlib import Path

from benchwright.records import Amount, Record
from benchwright.runs.beside import read_beside, write_beside

LABELS = "judge_labels.json"


class OwnLabel(Record, frozen=True):
    """What a person said of an answer of the run: that of this attempt at a trial, so many characters long."""

    trial: str
    sample: str
    attempt: Amount
    label: float
    length: Amount


class OtherLabel(Record, frozen=True):
    """What a person said of an answer that is not of the run, and what the run's judge said when it was asked."""

    label: float
    verdict: float
    length: Amount


class KeptLabels(Record, frozen=True):
    """The labels of a run, from 0 (wrong) to 1 (right), for the verdicts of one scorer.

    `source` is the name of their file; `unjudged` answers of others got no verdict.
    """

    source: str
    scorer: str
    own: list[OwnLabel] = []
    others: list[OtherLabel] = []
    unjudged: Amount = 0


def keep_labels(directory: Path, labels: KeptLabels) -> None:
    """Keeps labels with a run, in place of those that it had.

    Raises:
        JournalError: the directory cannot be written.
    """
    write_beside(directory / LABELS, labels)


def read_labels(directory: Path) -> KeptLabels | None:
    """The labels of a run; None without any.

    Raises:
        UserError: the file cannot be read.
    """
    return read_beside(directory / LABELS, KeptLabels)
