"""State, working time and timing accuracy of a run, from the events in the run's journal."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.records import RunEvent
from benchwright.runs.concurrency_history import ConcurrencyHistory
from benchwright.runs.process_delays import LoopLag
from benchwright.runs.standstills import combine_lags, standstill_seconds_outside


class Sessions:
    """Combines the sessions of a run: the periods in which a process worked on the run.

    Time between sessions is not counted.

    `state`: finished, decided (`--until`), stopped or unfinished. `planned`: number of planned trials; None if
    unknown. `started_at`: start of the last session (wall-clock ns); 0 if there was none. `done_before`: number
    of trials that were done when the last session started.
    """

    def __init__(self) -> None:
        self.state = "unfinished"
        self.stop_reason: str | None = None
        self.planned: int | None = None
        self.done_before = 0
        self.started_at = 0
        self.cpu_seconds = 0.0
        self.lag = LoopLag()
        self.paces = ConcurrencyHistory()
        self._seconds = 0.0
        self._open = False
        self._latest = 0

    def extend_session(self, at: int) -> None:
        """Extend the working time of the current session to `at` (wall-clock ns)."""
        self._latest = max(self._latest, at)

    def add_event(self, event: RunEvent) -> None:
        """Process one event."""
        detail = event.detail
        if event.name == "started":
            self.end_session()
            self.state, self.stop_reason = "unfinished", None
            self.started_at = self._latest = event.at
            self._open = True
            self.planned = detail.get("total")
            self.done_before = detail.get("finished", 0)
            return
        self.extend_session(event.at)
        if event.name == "concurrency":
            self.paces.add_event(event, self.started_at)
            return
        self.state = event.name
        self.stop_reason = detail.get("reason")
        self.cpu_seconds += detail.get("cpu_seconds", 0.0)
        self._take_lag(detail.get("lag"))
        self.end_session()

    def _take_lag(self, lag: Any) -> None:
        if lag is not None:
            self.lag = combine_lags([self.lag, msgspec.convert(lag, LoopLag)])

    def end_session(self) -> None:
        """End the current session: after its last event, or because the next session has begun (the process
        was killed).
        """
        if self._open:
            self.paces.end_session(self._latest)
            self._seconds = self.wall_seconds
        self._open = False

    @property
    def ended_at(self) -> int:
        """Latest moment in the journal (wall-clock ns), usually the end of the last session. 0 if there is none."""
        return self._latest

    @property
    def timed_seconds(self) -> float:
        """Number of seconds that count for the throughput: at work, at a settled concurrency, without standstills."""
        still = standstill_seconds_outside(self.lag.standstills, self.paces.spans)
        return self.wall_seconds - self.paces.settling_seconds - still

    @property
    def wall_seconds(self) -> float:
        """Number of seconds in which a process worked on the run.

        The current session counts up to the latest entry of the journal.
        """
        under_way = max(0, self._latest - self.started_at) / 1e9 if self._open else 0.0
        return self._seconds + under_way
