"""How far a run is, counted from its journal as it grows, a slice at a time."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from benchwright.records import RunEvent
from benchwright.runs.journal import TRIALS

_TRIAL = b'\n{"type":"trial"'
_EVENT = re.compile(rb'\n\{"type":"event"[^\n]*')
_decode_event = msgspec.json.Decoder(RunEvent).decode


class ProgressCounter:
    """Counts the trials of the last session. `position` is how much of the journal was read.

    Lines are only counted, not decoded: a journal of 100,000 trials takes a few hundredths of a second.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / TRIALS
        self.position = 0
        self.total: int | None = None
        self.started_at = 0
        self._earlier = 0
        self._counted = 0

    @property
    def done(self) -> int:
        """Trials that are done, those of earlier sessions included."""
        done = self._earlier + self._counted
        return done if self.total is None else min(done, self.total)

    def rate(self, now: int) -> float | None:
        """Trials per second of this session; `now` in ns since the epoch."""
        seconds = (now - self.started_at) / 1e9
        return self._counted / seconds if self._counted and self.started_at and seconds > 0 else None

    def eta(self, now: int) -> float | None:
        """Seconds that are left at this rate."""
        rate = self.rate(now)
        return None if rate is None or self.total is None else (self.total - self.done) / rate

    def advance(self, budget: int) -> int:
        """Reads up to so many bytes further; returns how many it read."""
        try:
            with self._path.open("rb") as file:
                file.seek(self.position)
                data = file.read(budget)
        except OSError:
            return 0
        whole = data[: data.rfind(b"\n") + 1]
        lines = b"\n" + whole
        place = 0
        for match in _EVENT.finditer(lines):
            self._counted += lines.count(_TRIAL, place, match.start() + 1)
            self._take(match.group())
            place = match.end()
        self._counted += lines.count(_TRIAL, place)
        self.position += len(whole)
        return len(whole)

    def _take(self, encoded: bytes) -> None:
        try:
            event = _decode_event(encoded)
        except msgspec.DecodeError:
            return
        if event.name == "started":
            self.total = event.detail.get("total")
            self._earlier = event.detail.get("finished", 0)
            self._counted = 0
            self.started_at = event.at
