"""The clocks of records: wall-clock time that no step of the system's clock moves, and how long the machine slept.

Moments of a run are compared with each other: by when a request was due, a window is cut. A step of the system's clock
(NTP, a person, the host of a virtual machine) in between would move some of them. So the wall clock is read once, and
goes on by `perf_counter_ns`. That clock (CLOCK_MONOTONIC on Linux) stops while the machine is suspended; CLOCK_BOOTTIME
does not (clock_gettime(2)), and by their difference a suspension is known. In a virtual machine that its host pauses
both may stop; then only the system's clock shows it, once it is set to the time again.
"""

from __future__ import annotations

import time
from time import perf_counter_ns

_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)

_anchor = time.time_ns() - perf_counter_ns()


def wall_ns() -> int:
    """Return the time since the Unix epoch in ns; within a process it never steps, but for `set_anew`."""
    return _anchor + perf_counter_ns()


def anchor() -> int:
    """Return the wall-clock time at which `perf_counter_ns` was 0: what other processes of this machine go by, too."""
    return _anchor


def set_anchor(wall: int) -> None:
    """Go by the anchor of another process of this machine."""
    global _anchor
    _anchor = wall


def set_anew() -> None:
    """Read the system's clock again: the machine was suspended, which `perf_counter_ns` does not know."""
    set_anchor(time.time_ns() - perf_counter_ns())


QUICK_NS = 1_000_000
"""Clocks that are read further apart than this cannot be compared: this program was held up in between."""


def ahead_ns() -> int | None:
    """Return by how many ns the system's clock is ahead of `wall_ns`; None if the two could not be read together."""
    before = perf_counter_ns()
    system = time.time_ns()
    after = perf_counter_ns()
    return system - _anchor - before if after - before < QUICK_NS else None


def asleep_ns() -> int:
    """Return for how many ns in all the machine has been suspended; 0 where the system is not Linux, which tells it.

    Where this program is held up between the two readings, the result is too low, never too high.
    """
    if _BOOTTIME is None:
        return 0
    return time.clock_gettime_ns(_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
