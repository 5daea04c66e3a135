"""What people said of answers that a judge has scored, kept beside the journal of the run."""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchwright.errors import JournalError
from benchwright.files import write_whole
from benchwright.records import UNREADABLE, Amount, Record
from benchwright.runs.journal import encode_json

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
    write_whole(directory / LABELS, encode_json(labels), durable=True, error=JournalError)


def read_labels(directory: Path) -> KeptLabels | None:
    """The labels of a run; None without any.

    Raises:
        JournalError: the file cannot be read.
    """
    path = directory / LABELS
    try:
        return msgspec.json.decode(path.read_bytes(), type=KeptLabels)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error.strerror}.") from None
    except UNREADABLE as error:
        raise JournalError(f"{path} cannot be read: {error}.") from None
