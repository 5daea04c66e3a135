"""The input that all export formats share: the counted trials, their bodies, and the value of each score."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from benchwright.errors import JournalError
from benchwright.records import RequestRecord
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.counting_rules import ScoreState, state_of_missing_score, state_of_score
from benchwright.runs.journal import TrialBody, open_bodies, read_body_from
from benchwright.runs.keys import fingerprint
from benchwright.runs.table import RunTable

if TYPE_CHECKING:
    from benchwright.runs.columns import Rows

MAX_NAME_LENGTH = 60
"""Maximum number of characters that a name from the run contributes to a file name."""


class CountedTrial(NamedTuple):
    """The attempt at a trial that counts, with its row, its body, and the id of its run.

    The body is empty if it was lost.
    """

    run: str
    table_row: int
    trial: ScoredTrial
    body: TrialBody

    @property
    def unique_id(self) -> str:
        """An id that is unique across runs.

        The trial's key is not unique, because it depends only on the trial's content.
        """
        return fingerprint(self.run, self.trial.record.key)[:32]

    @property
    def requests(self) -> list[RequestRecord]:
        """The answered requests that have the role `model`."""
        return [one for one in self.trial.record.requests if one.role == "model" and one.error is None]

    def score(self, name: str) -> tuple[ScoreState, float]:
        """Return the state of a score and its value. The value is 0 if there is none."""
        trial = self.trial
        value = trial.record.scores.get(name)
        if value is not None:
            state = state_of_score(trial.status, value)
        elif (score := trial.scores.get(name)) is not None:
            value, state = score.value, state_of_score(score.status, score.value)
        else:
            state = state_of_missing_score(trial.status)
        return state, value if value is not None and state is ScoreState.SCORED else 0.0


def counted_trials(
    table: RunTable, slot: str | None = None, *, by_sample: bool = False
) -> Iterator[CountedTrial]:
    """Yield the counted trials of one target, in order of start.

    If `slot` is None, yield those of all targets. The table must be read with `effort=True`. If `by_sample` is
    True, the trials of each sample follow each other.

    Raises:
        JournalError: If the journal cannot be read.
    """
    rows = table.rows_in_start_order(table.counted_rows(slot))
    with open_bodies(table.directory) as bodies:
        for row in (_by_sample(table, rows) if by_sample else rows).tolist():
            trial = table.read_trial(row)
            try:
                body = read_body_from(bodies, trial.record)
            except JournalError:
                body = TrialBody(trial.record.key)
            yield CountedTrial(table.directory.name, row, trial, body)


def _by_sample(table: RunTable, rows: Rows) -> Rows:
    """Return the rows sorted so that the rows of each sample are together.

    Samples are in the order of their first row.
    """
    import numpy as np

    _, first, of = np.unique(table.sample.compact_numbers(rows), return_index=True, return_inverse=True)
    return rows[np.argsort(first[of], kind="stable")]


def iso_time(at: int) -> str:
    """Return a wall-clock time (ns since the epoch) as ISO 8601 in UTC."""
    return datetime.fromtimestamp(at / 1e9, UTC).isoformat()


def file_name_part(text: str) -> str:
    """Return text as part of a file name that every file system accepts."""
    plain = "".join(one if (one.isascii() and one.isalnum()) or one in "-._" else "-" for one in text)
    return plain[:MAX_NAME_LENGTH].strip(".") or "unnamed"
