"""Human labels for answers that a judge model has scored, in a sidecar file of the run."""

from __future__ import annotations

from pathlib import Path

from benchwright.records import Amount, Record
from benchwright.runs.beside import read_beside, write_beside

LABELS = "judge_labels.json"


class OwnLabel(Record, frozen=True):
    """A human label for one answer of this run: that of one attempt at a trial.

    `length` is the answer's length in characters.
    """

    trial: str
    sample: str
    attempt: Amount
    label: float
    length: Amount


class OtherLabel(Record, frozen=True):
    """A human label for an answer from outside the run, and the verdict of the run's judge on that answer.

    `length` is the answer's length in characters.
    """

    label: float
    verdict: float
    length: Amount


class KeptLabels(Record, frozen=True):
    """The human labels, from 0 (wrong) to 1 (right), for the answers that one scorer of a run has judged.

    `own`, `others`: labels for answers of the run, and for answers from outside it. `source`: the name of the
    file with the labels. `unjudged`: number of answers from outside without a verdict.
    """

    source: str
    scorer: str
    own: list[OwnLabel] = []
    others: list[OtherLabel] = []
    unjudged: Amount = 0


def keep_labels(directory: Path, labels: KeptLabels) -> None:
    """Store labels with a run, replacing its earlier ones.

    Raises:
        JournalError: If the directory cannot be written.
    """
    write_beside(directory / LABELS, labels)


def read_labels(directory: Path) -> KeptLabels | None:
    """Read the labels of a run. None if it has none.

    Raises:
        UserError: If the file cannot be read.
    """
    return read_beside(directory / LABELS, KeptLabels)
