"""The trials of one run, read on while its journal grows, and one of them as pages show it."""

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
"""Seconds of reading after which other threads get a turn, and seconds in which they can take it."""


class Row(NamedTuple):
    """One trial, by its row in the table. `done` is false for one that was only ever cut off; seconds."""

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
    """The table of a run. Hold `lock` while using it; lines that are not records are passed over, and counted."""

    def __init__(self, directory: Path, scorers: Sequence[str]) -> None:
        self.lock = RLock()
        self.table = RunTable(directory, scorers, effort=True, strict=False)

    def read(self, seconds: float) -> bool:
        """Reads on for about so long; whether it has come to the end.

        Raises:
            JournalError: the journal cannot be read.
        """
        end = time.monotonic() + seconds
        while True:
            with self.lock:
                if self.table.advance(min(TURN, seconds)):
                    return True
            if time.monotonic() >= end:
                return False
            time.sleep(PAUSE)

    def read_all(self) -> None:
        """Reads to the end; see `read`."""
        self.read(math.inf)

    def find(self, sample: str, target: str | None, repeat: int) -> int | None:
        """The row of a trial; without a target, of the first that has it. One that counts comes first."""
        table = self.table
        found = [
            row
            for row in table.sample.places(sample)
            if table.repeat[row] == repeat and target in (None, table.targets[table.target[row]])
        ]
        return next((row for row in found if table.is_done(row)), found[0] if found else None)

    def siblings(self, sample: str) -> list[Row]:
        """All trials of a sample, by target and repeat."""
        rows = (self.row(number) for number in self.table.sample.places(sample))
        return sorted(rows, key=lambda row: (row.target, row.repeat))

    def row(self, number: int) -> Row:
        """One trial."""
        table = self.table
        assert table.effort is not None
        ttft, group = table.effort.ttft[number], table.group[number]
        values = {name: column.value(number) for name, column in table.scores.items()}
        return Row(
            number,
            table.sample[number],
            table.targets[table.target[number]],
            table.repeat[number],
            table.status_of(number),
            table.is_done(number),
            {name: value for name, value in values.items() if value is not None},
            table.groups[group - 1] if group else None,
            table.label_sets[table.labels[number]],
            table.effort.took[number] / 1e9,
            None if math.isnan(ttft) else ttft,
            table.attempts(number),
        )
