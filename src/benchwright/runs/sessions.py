"""What the events of a journal tell of a run: whether it has ended, how long it was at work, how well it could time."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.records import RunEvent
from benchwright.runs.lag import LoopLag
from benchwright.runs.paces import Paces
from benchwright.runs.standstills import combined, seconds_outside


class Sessions:
    """Adds up the sessions of a run. The time between two of them is not a time of the run.

    `state` is finished, decided (`--until`), stopped or unfinished; `planned` the trials of the plan, None where
    nothing is known of it; `done_before` the trials that were done when the last session began, at `started_at`
    (wall-clock ns, 0 before).
    """

    def __init__(self) -> None:
        self.state = "unfinished"
        self.stop_reason: str | None = None
        self.planned: int | None = None
        self.done_before = 0
        self.started_at = 0
        self.cpu_seconds = 0.0
        self.lag = LoopLag()
        self.paces = Paces()
        self._seconds = 0.0
        self._open = False
        self._latest = 0

    def worked_until(self, at: int) -> None:
        """Something was done until then."""
        self._latest = max(self._latest, at)

    def add(self, event: RunEvent) -> None:
        """Takes one event in."""
        detail = event.detail
        if event.name == "started":
            self.end()
            self.state, self.stop_reason = "unfinished", None
            self.started_at = self._latest = event.at
            self._open = True
            self.planned = detail.get("total")
            self.done_before = detail.get("finished", 0)
            return
        self.worked_until(event.at)
        if event.name == "concurrency":
            self.paces.add(event, self.started_at)
            return
        self.state = event.name
        self.stop_reason = detail.get("reason")
        self.cpu_seconds += detail.get("cpu_seconds", 0.0)
        self._take_lag(detail.get("lag"))
        self.end()

    def _take_lag(self, lag: Any) -> None:
        if lag is not None:
            self.lag = combined([self.lag, msgspec.convert(lag, LoopLag)])

    def end(self) -> None:
        """The session under way has ended: it said so, or it was killed and another one began."""
        if self._open:
            self.paces.end_session(self._latest)
            self._seconds = self.wall_seconds
        self._open = False

    @property
    def ended_at(self) -> int:
        """When the last session ended (wall-clock ns), as far as the journal goes; 0 before any."""
        return self._latest

    @property
    def timed_seconds(self) -> float:
        """Seconds that count for the throughput: at work, at a concurrency that had settled, and not standing still."""
        still = seconds_outside(self.lag.standstills, self.paces.spans)
        return self.wall_seconds - self.paces.seconds - still

    @property
    def wall_seconds(self) -> float:
        """Seconds in which the run was at work; of the session under way, as far as the journal goes."""
        under_way = max(0, self._latest - self.started_at) / 1e9 if self._open else 0.0
        return self._seconds + under_way
