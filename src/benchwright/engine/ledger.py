"""The ledger: what a journal already holds, so that only the rest is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchwright.errors import JournalError
from benchwright.records import ASKED_AGAIN, Outcome, Status, TrialRecord
from benchwright.runs.journal import read_body
from benchwright.runs.table import RunTable

Retry = Callable[[TrialRecord], bool]
"""Picks trials that are to be made again although they have an answer."""


class Ledger:
    """Answers, for a trial of the plan, what of it is already done.

    Trials whose last attempt was cut off, ended in one of the statuses `again`, or is picked by `retry`, are not: they
    are to be asked again. With `grader_error` among `again`, scores that failed are to be made again, without asking.
    `counted` trials count by the rule of `runs.counting`; `finished` are not to be asked again.
    The table must not be read on while the ledger is in use.
    """

    def __init__(
        self, table: RunTable, again: frozenset[Status] = ASKED_AGAIN, retry: Retry | None = None
    ) -> None:
        self._table = table
        self._scores_again = Status.GRADER_ERROR in again
        asked_again = again - {Status.GRADER_ERROR}
        self._done = bytearray(
            table.is_done(row) and table.status_of(row) not in asked_again for row in range(len(table))
        )
        if retry is not None:
            for row in range(len(table)):
                self._done[row] = self._done[row] and not retry(table.trial(row).record)
        self.counted = sum(map(table.is_done, range(len(table))))
        self.finished = sum(self._done)

    def counts(self, trial_keys: Iterable[str]) -> tuple[int, int]:
        """(how many of these trials count, how many of them are not to be asked again)."""
        rows = [row for row in map(self._table.find, trial_keys) if row is not None]
        return sum(map(self._table.is_done, rows)), sum(self._done[row] for row in rows)

    def is_finished(self, trial_key: str) -> bool:
        """Whether the trial needs no further request to its model."""
        row = self._table.find(trial_key)
        return row is not None and bool(self._done[row])

    def scored(self, trial_key: str) -> frozenset[str]:
        """The scorers that have scored a finished trial, and need not again."""
        row = self._table.find(trial_key)
        if row is None:
            return frozenset()
        return frozenset(
            name
            for name in self._table.scores
            if self._table.is_scored(row, name)
            and not (self._scores_again and self._table.failed_score(row, name))
        )

    def failures(self) -> int:
        """Reads the journal to its end, and counts the trials that are failures. Nothing else may be asked then."""
        self._table.advance()
        return self._table.failures()

    def attempts(self, trial_key: str) -> int:
        """The number of the next attempt at a trial, 0 for one that never was made."""
        row = self._table.find(trial_key) if self._done else None
        if row is None:
            return 0
        return 1 + max(one.record.attempt for one in self._table.all_attempts(row))

    def outcome(self, trial_key: str) -> Outcome | None:
        """The outcome of a finished trial, read back from its body to be scored; None where the body is lost."""
        row = self._table.find(trial_key)
        assert row is not None
        try:
            return read_body(self._table.directory, self._table.trial(row).record).outcome
        except JournalError:
            return None
