"""The ledger: which trials and scores of a plan the journal already holds, so that only the remaining ones are
made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchwright.errors import JournalError
from benchwright.records import STATUSES_RETRIED_ON_RESUME, Outcome, Status, TrialRecord
from benchwright.runs.journal import read_body
from benchwright.runs.table import RunTable

RetryCondition = Callable[[TrialRecord], bool]
"""Function that returns True for a trial that is to be run again although it has an answer."""


class Ledger:
    """Knows which trials of the plan, and which of their scores, are already done.

    A trial must be run again if its last attempt was cut off, if it ended in one of the statuses `again`, or if
    `retry` returns True for it. If `again` contains `grader_error`, failed scores are computed again without
    asking the model. `counted`: number of trials that count by the rule of `runs.counting`. `finished`: number
    of trials that need not be run again. The table must not be read further while the ledger is in use.
    """

    def __init__(
        self,
        table: RunTable,
        again: frozenset[Status] = STATUSES_RETRIED_ON_RESUME,
        retry: RetryCondition | None = None,
    ) -> None:
        self._table = table
        self._scores_again = Status.GRADER_ERROR in again
        asked_again = again - {Status.GRADER_ERROR}
        self._done = bytearray(
            table.is_counted(row) and table.status_of(row) not in asked_again for row in range(len(table))
        )
        if retry is not None:
            for row in range(len(table)):
                self._done[row] = self._done[row] and not retry(table.read_trial(row).record)
        self.counted = sum(map(table.is_counted, range(len(table))))
        self.finished = sum(self._done)

    def count_existing_trials(self, trial_keys: Iterable[str]) -> tuple[int, int]:
        """Count the trials with these keys. Return (number that count, number that need not be run again)."""
        rows = [row for row in map(self._table.find_row, trial_keys) if row is not None]
        return sum(map(self._table.is_counted, rows)), sum(self._done[row] for row in rows)

    def is_finished(self, trial_key: str) -> bool:
        """Return True if the trial needs no further request to its model."""
        row = self._table.find_row(trial_key)
        return row is not None and bool(self._done[row])

    def finished_scorers(self, trial_key: str) -> frozenset[str]:
        """Return the names of the scorers whose scores of a finished trial exist and need not be computed again."""
        row = self._table.find_row(trial_key)
        if row is None:
            return frozenset()
        return frozenset(
            name
            for name in self._table.scores
            if self._table.is_scored(row, name)
            and not (self._scores_again and self._table.has_failed_score(row, name))
        )

    def count_failures(self) -> int:
        """Read the journal to its end and return the number of failed trials.

        The ledger must not be used after this call.
        """
        self._table.read_journal()
        return self._table.count_failures()

    def next_attempt(self, trial_key: str) -> int:
        """Return the number of the next attempt at a trial. It is 0 if the trial was never tried."""
        row = self._table.find_row(trial_key) if self._done else None
        if row is None:
            return 0
        return 1 + max(one.record.attempt for one in self._table.read_attempts(row))

    def read_outcome(self, trial_key: str) -> Outcome | None:
        """Read the outcome of a finished trial from its body, in order to score it.

        Return None if the body is lost.
        """
        row = self._table.find_row(trial_key)
        assert row is not None
        try:
            return read_body(self._table.directory, self._table.read_trial(row).record).outcome
        except JournalError:
            return None
