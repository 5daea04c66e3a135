"""What the writers of all formats start from: the trials that count, their bodies, and what each score is worth."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from benchwright.errors import JournalError
from benchwright.records import RequestRecord
from benchwright.runs.counting import ScoreState, state_of_score, state_without_score
from benchwright.runs.journal import Body, body_file, body_in
from benchwright.runs.keys import fingerprint
from benchwright.runs.scored import ScoredTrial
from benchwright.runs.table import RunTable

if TYPE_CHECKING:
    from benchwright.runs.columns import Rows

LONGEST_NAME = 60
"""Characters of a file's name that come from the run."""


class CountedTrial(NamedTuple):
    """The attempt at a trial that counts, in the run of this id. Its body is empty where it was lost."""

    run: str
    row: int
    trial: ScoredTrial
    body: Body

    @property
    def unique(self) -> str:
        """An id that no trial of another run has: a trial's key is the same wherever the same is asked."""
        return fingerprint(self.run, self.trial.record.key)[:32]

    @property
    def requests(self) -> list[RequestRecord]:
        """The model's own requests that were answered."""
        return [one for one in self.trial.record.requests if one.role == "model" and one.error is None]

    def score(self, name: str) -> tuple[ScoreState, float]:
        """What the trial is worth by a score, and the value: 0 where there is none."""
        trial = self.trial
        value = trial.record.scores.get(name)
        if value is not None:
            state = state_of_score(trial.status, value)
        elif (score := trial.scores.get(name)) is not None:
            value, state = score.value, state_of_score(score.status, score.value)
        else:
            state = state_without_score(trial.status)
        return state, value if value is not None and state is ScoreState.SCORED else 0.0


def counted_trials(
    table: RunTable, slot: str | None = None, *, by_sample: bool = False
) -> Iterator[CountedTrial]:
    """The trials of a target that count, or of all, in the order in which they were begun; the table has `effort`.

    With `by_sample` those of a sample follow one another.

    Raises:
        JournalError: the journal cannot be read.
    """
    rows = table.in_order(table.counted(slot))
    with body_file(table.directory) as bodies:
        for row in (_by_sample(table, rows) if by_sample else rows).tolist():
            trial = table.trial(row)
            try:
                body = body_in(bodies, trial.record)
            except JournalError:
                body = Body(trial.record.key)
            yield CountedTrial(table.directory.name, row, trial, body)


def _by_sample(table: RunTable, rows: Rows) -> Rows:
    """The rows with those of a sample together, samples in the order of their first."""
    import numpy as np

    _, first, of = np.unique(table.sample.narrow(rows), return_index=True, return_inverse=True)
    return rows[np.argsort(first[of], kind="stable")]


def moment(at: int) -> str:
    """A wall-clock moment (ns) as ISO 8601 in UTC."""
    return datetime.fromtimestamp(at / 1e9, UTC).isoformat()


def file_part(text: str) -> str:
    """Text as a part of a file's name that every file system takes."""
    plain = "".join(one if (one.isascii() and one.isalnum()) or one in "-._" else "-" for one in text)
    return plain[:LONGEST_NAME].strip(".") or "unnamed"
