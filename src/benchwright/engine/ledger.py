"""The ledger: what a journal already holds, so that only the rest is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from benchwright.errors import JournalError
from benchwright.records import ASKED_AGAIN, JournalLine, Outcome, ScoreRecord, Status, TrialRecord
from benchwright.runs.journal import read_body
from benchwright.runs.key_index import KeyIndex, KeySet
from benchwright.runs.keys import key_prefix

Retry = Callable[[TrialRecord], bool]
"""Picks trials that are to be made again although they have an answer."""


class Ledger:
    """Answers, for a trial of the plan, what of it is already done.

    Trials whose last attempt ended in one of the statuses `again`, or that `retry` picks by it, are not: they are
    to be asked again.
    """

    def __init__(
        self,
        directory: Path,
        lines: Iterable[JournalLine],
        again: frozenset[Status] = ASKED_AGAIN,
        retry: Retry | None = None,
    ) -> None:
        self._directory = directory
        self._trials = KeyIndex()
        self._scores = KeySet()
        self._attempts: dict[int, int] = {}
        made_again: set[str] = set()
        for line in lines:
            if isinstance(line, ScoreRecord):
                self._scores.add(line.key)
            elif isinstance(line, TrialRecord):
                if line.attempt:
                    made_again.add(line.key)
                if line.status in again or (retry is not None and retry(line)):
                    self._attempts[key_prefix(line.key)] = line.attempt + 1
                    made_again.add(line.key)
                else:
                    self._attempts.pop(key_prefix(line.key), None)
                    self._trials.add(line.key, line.body[0])
        self._trials.sort()
        self._scores.sort()
        self._surplus = sum(len(self._trials.find(key)) - self.is_finished(key) for key in made_again)

    @property
    def finished(self) -> int:
        """How many trials need no further request to their model."""
        return len(self._trials) - self._surplus

    def is_finished(self, trial_key: str) -> bool:
        """Whether the trial needs no further request to its model."""
        return trial_key in self._trials and key_prefix(trial_key) not in self._attempts

    def is_scored(self, score_key: str) -> bool:
        """Whether the score with this key is there."""
        return score_key in self._scores

    def attempts(self, trial_key: str) -> int:
        """The number of the next attempt at a trial that is to be made again, 0 for one that never was."""
        return self._attempts.get(key_prefix(trial_key), 0)

    def outcome(self, trial_key: str) -> Outcome:
        """The outcome of a finished trial, read back from its body to be scored.

        Raises:
            JournalError: the body is gone.
        """
        body = read_body(self._directory, self._trials.find(trial_key)[-1])
        if body.key != trial_key:
            raise JournalError(f"The body of trial {trial_key} in {self._directory} is not its own.")
        return body.outcome
