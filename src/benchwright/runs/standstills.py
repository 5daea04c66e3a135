"""Standstills of our own process: the requests that they affected, and a text that describes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from benchwright.formats import format_duration
from benchwright.runs.process_delays import LoopLag, Standstill

STANDSTILL_FLAG = "stood_still"
"""Flag of a request that was due or in flight during a standstill. Its times do not show the server's speed."""

CAUSE_DESCRIPTIONS = {
    "stopped": "it was stopped, frozen or blocked, and used no processor time",
    "busy": "code in its own process kept it busy",
    "suspended": "the machine was suspended",
    "jumped": "the system's clock went ahead: the machine was paused, or its clock was set",
}


def combine_lags(lags: Iterable[LoopLag]) -> LoopLag:
    """Return one record of the lags of several processes (or sessions).

    It has the percentiles of the process with the highest p99, and the standstills of all processes.
    """
    known = list(lags)
    standstills = merge_standstills([one for lag in known for one in lag.standstills])
    return msgspec.structs.replace(max(known, key=lambda one: one.p99), standstills=standstills)


def merge_standstills(standstills: Iterable[Standstill]) -> list[Standstill]:
    """Return the standstills in order of time. Overlapping standstills (of several processes) are joined."""
    found = list[Standstill]()
    for one in sorted(standstills, key=lambda one: one.began):
        if found and one.began <= found[-1].end:
            length = max(found[-1].end, one.end) - found[-1].began
            found[-1] = msgspec.structs.replace(found[-1], ns=length)
        else:
            found.append(one)
    return found


def standstill_seconds_outside(standstills: Iterable[Standstill], spans: Sequence[tuple[int, int]]) -> float:
    """Return the total seconds of the parts of standstills that are outside the periods `spans`.

    `spans` are pairs (start, end) in wall-clock ns.
    """
    outside = 0
    for one in standstills:
        inside = sum(max(0, min(one.end, end) - max(one.began, begin)) for begin, end in spans)
        outside += one.ns - inside
    return outside / 1e9


def standstill_text(standstills: Sequence[Standstill]) -> str:
    """Describe when, for how long and why our process stood still. The text is the end of a sentence."""
    told = [
        f"for {format_duration(one.ns / 1e9)} at {_clock_time(one.began)} ({CAUSE_DESCRIPTIONS[one.cause]})"
        for one in standstills
    ]
    more = len(told) - MAX_DESCRIBED_STANDSTILLS
    return " and ".join([*told[:MAX_DESCRIBED_STANDSTILLS], *([f"{more:,} times more"] if more > 0 else [])])


MAX_DESCRIBED_STANDSTILLS = 3
"""Number of standstills that `standstill_text` describes individually."""


def _clock_time(wall_ns: int) -> str:
    return datetime.fromtimestamp(wall_ns / 1e9).strftime("%H:%M:%S")
