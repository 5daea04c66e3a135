"""Earlier runs: trials that are still valid are taken over instead of being asked again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchwright.records import FAILED, Record, ScoreRecord, Trial, TrialRecord
from benchwright.runs.journal import read_encoded_body, read_line, read_placed_lines
from benchwright.runs.key_index import KeyIndex


class Taken(Record, frozen=True):
    """A trial taken over: its line, rewritten for its new place, its encoded body and its scores."""

    record: TrialRecord
    body: bytes
    scores: list[ScoreRecord]


class EarlierRun:
    """The answered trials of another run; what failed there is not taken over."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._trials = KeyIndex()
        self._scores = KeyIndex()
        for offset, line in read_placed_lines(directory):
            if isinstance(line, TrialRecord) and line.status not in FAILED:
                self._trials.add(line.key, offset)
            elif isinstance(line, ScoreRecord):
                self._scores.add(line.trial, offset)
        self._trials.sort()
        self._scores.sort()

    def __contains__(self, trial_key: str) -> bool:
        return trial_key in self._trials

    def take(self, trial: Trial) -> Taken | None:
        """The trial as the other run has it, None where it has not.

        Raises:
            JournalError: the other run's files have changed meanwhile.
        """
        places = self._trials.find(trial.key)
        if not places:
            return None
        record = read_line(self._directory, places[-1])
        if not isinstance(record, TrialRecord):
            return None
        scores = [read_line(self._directory, place) for place in self._scores.find(trial.key)]
        moved = msgspec.structs.replace(
            record,
            sample=trial.sample.id,
            target=trial.target.slot,
            group=trial.sample.group,
            labels=trial.sample.labels,
            reused_from=record.reused_from or self._directory.name,
        )
        body = read_encoded_body(self._directory, record.body[0])
        return Taken(moved, body, [score for score in scores if isinstance(score, ScoreRecord)])


class Reuse(Record, frozen=True):
    """What is taken over from which runs, the newest first.

    Without `scores` every conversation is scored anew; with `only_known` no model is asked at all: trials that
    no earlier run has are left out.
    """

    runs: Sequence[EarlierRun] = ()
    scores: bool = True
    only_known: bool = False

    def take(self, trial: Trial) -> Taken | None:
        """The trial from the first run that has it."""
        for run in self.runs:
            taken = run.take(trial)
            if taken is not None:
                return taken
        return None


NO_REUSE = Reuse()
