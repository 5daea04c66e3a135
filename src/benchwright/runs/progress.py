"""How far a run is: its trials that count, without the columns of a table (see `counting`)."""

from __future__ import annotations

import time
from array import array
from pathlib import Path

import msgspec

from benchwright.records import RunEvent, Status
from benchwright.runs.counting import body_is_lost, counts
from benchwright.runs.journal import BODIES, TRIALS
from benchwright.runs.keys import key_prefix
from benchwright.runs.sessions import Sessions

SLICE = 2**20
"""Bytes that are read at once."""

_SCORE = b'{"type":"score"'


class _Trial(msgspec.Struct, gc=False, tag="trial"):
    """What decides whether an attempt counts; see `records.TrialRecord`."""

    key: str
    status: Status
    attempt: int = 0
    body: tuple[int, int] = (0, 0)


class _Other(msgspec.Struct, gc=False, tag="score"):
    """Any other line."""


_decode = msgspec.json.Decoder(_Trial | _Other | RunEvent).decode


class Progress:
    """Counts the trials of a run as its journal grows: eight bytes a trial.

    `done` is the number of rows that `RunTable.counted` has. `position` is how many bytes were read.
    """

    def __init__(self, directory: Path) -> None:
        self.position = 0
        self.sessions = Sessions()
        self._directory = directory
        self._counted = array("Q")
        self._known: set[int] | None = None
        self._this_session = 0

    @property
    def done(self) -> int:
        """Trials that count."""
        return len(self._counted)

    @property
    def planned(self) -> int | None:
        """Trials of the plan, None where the journal does not say."""
        return self.sessions.planned

    def rate(self, now: int) -> float | None:
        """Trials per second that ended in this session; `now` in ns since the epoch."""
        seconds = (now - self.sessions.started_at) / 1e9
        return self._this_session / seconds if self._this_session and seconds > 0 else None

    def seconds_left(self, now: int) -> float | None:
        """Seconds until this session has made its trials at this rate."""
        rate = self.rate(now)
        if rate is None or self.planned is None:
            return None
        return max(0, self.planned - self.sessions.done_before - self._this_session) / rate

    def advance(self, seconds: float) -> bool:
        """Reads on for about so long; whether it has come to the end of the journal."""
        end = time.monotonic() + seconds
        try:
            with (self._directory / TRIALS).open("rb") as file:
                file.seek(self.position)
                rest = b""
                while data := file.read(SLICE):
                    rest = self._take(rest + data)
                    if time.monotonic() >= end:
                        return not file.read(1)
        except OSError:
            pass
        return True

    def _take(self, data: bytes) -> bytes:
        """Takes whole lines in; returns the rest."""
        bodies_size = _size(self._directory / BODIES)
        lines = data.split(b"\n")
        rest = lines.pop()
        self.position += len(data) - len(rest)
        for encoded in lines:
            if encoded.startswith(_SCORE):
                continue
            try:
                line = _decode(encoded)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            if isinstance(line, _Trial):
                self._add_trial(line, bodies_size)
            elif isinstance(line, RunEvent):
                self._add_event(line)
        return rest

    def _add_event(self, event: RunEvent) -> None:
        self.sessions.add(event)
        if event.name == "started":
            self._this_session = 0

    def _add_trial(self, trial: _Trial, bodies_size: int) -> None:
        if not counts(trial.status) or body_is_lost(trial.body, bodies_size):
            return
        self._this_session += 1
        key = key_prefix(trial.key)
        if trial.attempt and self._known is None:
            self._known = set(self._counted)
        if self._known is not None:
            if trial.attempt and key in self._known:
                return
            self._known.add(key)
        self._counted.append(key)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
