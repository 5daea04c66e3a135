"""The trials of one run, as rows for pages. They are read while the run's journal grows."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from threading import RLock
from typing import NamedTuple

from benchwright.records import Status
from benchwright.runs.table import RunTable

TURN, PAUSE = 0.1, 0.001
"""`TURN`: seconds of reading after which the lock is released for other threads.

`PAUSE`: seconds until reading continues.
"""


class TrialRow(NamedTuple):
    """One trial, as the table of trials shows it. `number`: the number of its row in the run's table.

    `done`: False if all attempts were cut off. `duration`: in seconds. `ttft`: in seconds, None if unknown.
    """

    number: int
    sample: str
    target: str
    repeat: int
    status: Status
    done: bool
    scores: dict[str, float]
    group: str | None
    labels: dict[str, str]
    duration: float
    ttft: float | None
    attempts: int


class RunTrials:
    """The trials of a run, in a table that grows. Hold `lock` while you use the trials.

    Unreadable journal lines are skipped and counted.
    """

    def __init__(self, directory: Path, scorers: Sequence[str]) -> None:
        self.lock = RLock()
        self.table = RunTable(directory, scorers, effort=True, strict=False)

    def read(self, seconds: float) -> bool:
        """Continue reading for about `seconds`. Return True if the end of the journal is reached.

        Raises:
            JournalError: If the journal cannot be read.
        """
        end = time.monotonic() + seconds
        while True:
            with self.lock:
                if self.table.read_journal(min(TURN, seconds)):
                    return True
            if time.monotonic() >= end:
                return False
            time.sleep(PAUSE)

    def read_all(self) -> None:
        """Read to the end of the journal, see `read`."""
        self.read(math.inf)

    def find(self, sample: str, target: str | None, repeat: int) -> int | None:
        """Return the row number of a trial. Return None if there is no such trial.

        If `target` is None, any target matches. A finished trial is preferred to a trial whose attempts were all cut
        off.
        """
        table = self.table
        found = [
            row
            for row in table.sample.rows_of(sample)
            if table.repeat[row] == repeat and target in (None, table.targets[table.target[row]])
        ]
        return next((row for row in found if table.is_counted(row)), found[0] if found else None)

    def trials_of_sample(self, sample: str) -> list[TrialRow]:
        """Return all trials of a sample, sorted by target and repeat."""
        rows = (self.row(number) for number in self.table.sample.rows_of(sample))
        return sorted(rows, key=lambda row: (row.target, row.repeat))

    def row(self, number: int) -> TrialRow:
        """Return one trial by the number of its row."""
        table = self.table
        assert table.effort is not None
        ttft, group = table.effort.ttft[number], table.group[number]
        values = {name: column.value(number) for name, column in table.scores.items()}
        return TrialRow(
            number,
            table.sample[number],
            table.targets[table.target[number]],
            table.repeat[number],
            table.status_of(number),
            table.is_counted(number),
            {name: value for name, value in values.items() if value is not None},
            table.groups[group - 1] if group else None,
            table.label_sets[table.labels[number]],
            table.effort.took[number] / 1e9,
            None if math.isnan(ttft) else ttft,
            table.count_attempts(number),
        )
