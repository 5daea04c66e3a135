"""The progress of a run: the number of trials that count (see `counting`).

It is read without building a full table.
"""

from __future__ import annotations

import math
import time
from pathlib import Path

import msgspec

from benchwright.records import DECODE_ERRORS, RunEvent, Status
from benchwright.runs.counting_rules import is_counted
from benchwright.runs.journal import check_event
from benchwright.runs.journal_tail import JournalTail
from benchwright.runs.keys import RowIndex
from benchwright.runs.lost_bodies import LostBodies
from benchwright.runs.sessions import Sessions

_SCORE = b'{"type":"score"'


class _Trial(msgspec.Struct, gc=False, tag="trial"):
    """The fields of a trial line that decide whether an attempt counts; see `records.TrialRecord`."""

    key: str
    status: Status
    attempt: int = 0
    body: tuple[int, int] = (0, 0)


class _Other(msgspec.Struct, gc=False, tag="score"):
    """A score line. Only the type of the line is read."""


_decode = msgspec.json.Decoder(_Trial | _Other | RunEvent).decode


class JournalProgress:
    """Counts a run's trials as its journal grows.

    It takes 8 bytes per trial, or 20 if some trials were retried. `counted_trials` equals the length of
    `RunTable.counted_rows`. Lines that are not records are skipped.
    """

    def __init__(self, directory: Path) -> None:
        self.sessions = Sessions()
        self._tail = JournalTail(directory)
        self._bodies = LostBodies(directory)
        self._counted = RowIndex()
        self._this_session = 0

    @property
    def bytes_read(self) -> int:
        """Number of bytes of the journal that have been read so far."""
        return self._tail.position

    @property
    def counted_trials(self) -> int:
        """Number of trials that count."""
        return len(self._counted)

    @property
    def planned_trials(self) -> int | None:
        """Number of planned trials. None if the journal does not state it."""
        return self.sessions.planned

    def trials_per_second(self, now: int) -> float | None:
        """Return the number of trials per second that finished in this session. Return None if the number is
        unknown.

        `now`: ns since the epoch.
        """
        seconds = (now - self.sessions.started_at) / 1e9
        return self._this_session / seconds if self._this_session and seconds > 0 else None

    def seconds_left(self, now: int) -> float | None:
        """Return the estimated seconds until this session has finished its trials, at its present rate.

        Return None if unknown.
        """
        rate = self.trials_per_second(now)
        if rate is None or self.planned_trials is None:
            return None
        return max(0, self.planned_trials - self.sessions.done_before - self._this_session) / rate

    def read_journal(self, seconds: float = math.inf) -> bool:
        """Read on for about `seconds`. Return True if the end of the journal was reached.

        Close the journal afterwards.

        Raises:
            JournalError: If the journal cannot be read.
        """
        end = time.monotonic() + seconds
        try:
            for lines in self._tail.read_line_batches():
                self._bodies.read_sizes()
                for line in lines:
                    self._take(line)
                    self._tail.skip_line(line)
                if time.monotonic() >= end:
                    return self.bytes_read >= self._tail.file_size()
            return True
        finally:
            self._tail.close()

    def _take(self, encoded: bytes) -> None:
        if encoded.startswith(_SCORE):
            return
        try:
            line = _decode(encoded)
            if isinstance(line, RunEvent):
                check_event(line)
        except DECODE_ERRORS:
            return
        if isinstance(line, _Trial):
            self._add_trial(line)
        elif isinstance(line, RunEvent):
            self._add_event(line)

    def _add_event(self, event: RunEvent) -> None:
        self.sessions.add_event(event)
        if event.name == "started":
            self._this_session = 0

    def _add_trial(self, trial: _Trial) -> None:
        if not is_counted(trial.status) or self._bodies.is_body_lost(trial.body, self._tail.position):
            return
        self._this_session += 1
        if not trial.attempt or self._counted.find_row(trial.key) is None:
            self._counted.add_key(trial.key)
