"""Reuse of trials: valid trials of earlier runs are copied into the new run instead of being run again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchwright.errors import JournalError
from benchwright.records import FAILED_STATUSES, Outcome, Record, ScoreRecord, Trial, TrialRecord
from benchwright.runs.journal import decode_body, read_encoded_body
from benchwright.runs.table import RunTable


class ReusedTrial(Record, frozen=True):
    """A reused trial: its record (adapted to the new run), its encoded body, its outcome and its scores."""

    record: TrialRecord
    body: bytes
    outcome: Outcome
    scores: list[ScoreRecord]


class EarlierRun:
    """The answered trials of an earlier run, for reuse. Failed trials are not reused."""

    def __init__(self, directory: Path) -> None:
        self._table = RunTable(directory)
        self._table.read_journal()

    def __contains__(self, trial_key: str) -> bool:
        return self._row(trial_key) is not None

    def _row(self, trial_key: str) -> int | None:
        row = self._table.find_row(trial_key)
        if row is None or self._table.status_of(row) in FAILED_STATUSES:
            return None
        if self._table.reused[row] and self._table.read_record(row).restored_tokens is not None:
            return None  # only its result was stored, not its conversation
        return row

    def take_trial(self, trial: Trial) -> ReusedTrial | None:
        """Return the trial as recorded in the earlier run.

        Return None if the earlier run lacks the trial, or if the trial's body is lost.

        Raises:
            JournalError: If the earlier run's journal has changed meanwhile.
        """
        row = self._row(trial.key)
        if row is None:
            return None
        directory = self._table.directory
        record, scores = msgspec.structs.astuple(self._table.read_trial(row))
        moved = msgspec.structs.replace(
            record,
            sample=trial.sample.id,
            target=trial.target.slot,
            group=trial.sample.group,
            labels=trial.sample.labels,
            row=trial.sample.row,
            reused_from=record.reused_from or directory.name,
        )
        try:
            body = read_encoded_body(directory, record)
            outcome = decode_body(body, record).outcome
        except JournalError:
            return None
        return ReusedTrial(moved, body, outcome, list(scores.values()))


class Reuse(Record, frozen=True):
    """The runs from which trials are reused (the newest first), and two options.

    `reuses_scores`: False if scores are not reused, so that every conversation is scored again.
    `asks_no_model`: True if no model is asked at all. Trials that no earlier run has are then left out.
    """

    earlier_runs: Sequence[EarlierRun] = ()
    reuses_scores: bool = True
    asks_no_model: bool = False

    def take_trial(self, trial: Trial) -> ReusedTrial | None:
        """Return the trial from the first run that has it. None if no run has it."""
        for run in self.earlier_runs:
            taken = run.take_trial(trial)
            if taken is not None:
                return taken
        return None


NO_REUSE = Reuse()
