"""Delays of our own process (loop lag and standstills), as recorded in journals, and the fields of event details."""

from __future__ import annotations

from typing import Literal

from benchwright.records import Amount, Record, WallClockNs
from benchwright.runs.serial_server import SerialServing

MAX_RELIABLE_LAG_NS = 10_000_000
"""p99 of the loop lag (10 ms) above which timings of single tokens and short answers are unreliable."""


StandstillCause = Literal["stopped", "busy", "suspended", "jumped"]


class Standstill(Record, frozen=True):
    """A period in which our own process stood still. `began`: wall-clock ns. `ns`: the length of the period.

    `cause`: the process was `stopped` (by a signal, a frozen container, a paused machine, or a blocking wait),
    it was `busy` with code that blocked its event loop, or the machine was `suspended`. It is `jumped` if the
    system's clock jumped ahead: the clock was set, or a virtual machine was paused together with its other
    clocks.
    """

    began: WallClockNs
    ns: Amount
    cause: StandstillCause = "stopped"

    @property
    def end(self) -> int:
        """The end of the standstill (wall-clock ns)."""
        return self.began + self.ns


class LoopLag(Record, frozen=True):
    """How late the event loop ran timers that were due: number of samples, percentiles and maximum, in ns.

    The percentiles do not include the `standstills` (lags of a second or more).
    """

    samples: Amount = 0
    p50: Amount = 0
    p99: Amount = 0
    longest: Amount = 0
    standstills: list[Standstill] = []

    @property
    def spoils_timings(self) -> bool:
        """True if our process was too busy for its timings to be reliable."""
        return self.p99 > MAX_RELIABLE_LAG_NS


class RunEventDetail(Record, frozen=True):
    """The fields of an event's `detail` that Benchwright reads back.

    Each event has some of these fields. It may have further fields that are only displayed.
    """

    total: Amount | None = None
    finished: Amount = 0
    failed: Amount | None = None
    reason: str | None = None
    cpu_seconds: float = 0.0
    lag: LoopLag | None = None
    level: Amount = 1
    settled: bool = False
    alone: SerialServing | None = None
