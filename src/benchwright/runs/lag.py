"""How late our own process was, as journals tell it: loop lag, standstills, and what else an event of a run may say."""

from __future__ import annotations

from typing import Literal

from benchwright.records import Amount, Moment, Record
from benchwright.runs.one_at_a_time import OneAtATime

SPOILING_LAG_NS = 10_000_000
"""At a 99th percentile of loop lag above this (10 ms), timings of single tokens and short answers cannot be trusted."""


StandstillCause = Literal["stopped", "busy", "suspended", "jumped"]


class Standstill(Record, frozen=True):
    """A time in which our own process stood still: from `began` (wall-clock ns) on, for so many `ns`.

    It was `stopped` (a signal, a frozen container, a paused machine, or a blocking wait), `busy` with code that kept
    its event loop, or the machine was `suspended`. If the system's clock `jumped` ahead, either a virtual machine was
    paused together with its other clocks, or the clock was set.
    """

    began: Moment
    ns: Amount
    cause: StandstillCause = "stopped"

    @property
    def end(self) -> int:
        """When it was over (wall-clock ns)."""
        return self.began + self.ns


class LoopLag(Record, frozen=True):
    """How late the event loop ran what was due: number of samples, percentiles and the longest lag, in ns.

    `standstills` are in none of the percentiles.
    """

    samples: Amount = 0
    p50: Amount = 0
    p99: Amount = 0
    longest: Amount = 0
    standstills: list[Standstill] = []

    @property
    def spoils_timings(self) -> bool:
        """Whether the client was too busy for its timings to hold."""
        return self.p99 > SPOILING_LAG_NS


class EventDetail(Record, frozen=True):
    """What is read of an event's `detail`: every event has some of it, and more that is only shown."""

    total: Amount | None = None
    finished: Amount = 0
    failed: Amount | None = None
    reason: str | None = None
    cpu_seconds: float = 0.0
    lag: LoopLag | None = None
    level: Amount = 1
    settled: bool = False
    alone: OneAtATime | None = None
