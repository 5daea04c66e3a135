"""Clocks for records: wall-clock time that never steps, and time spent in suspension.

Times within a run are compared with each other: when a request was due, where a time window begins. A step of the
system clock (by NTP, by a person, by the host of a virtual machine) would move some of these times. Therefore the
system clock is read once, and advanced by `perf_counter_ns`.

On Linux, `perf_counter_ns` (CLOCK_MONOTONIC) stops while the machine is suspended, but CLOCK_BOOTTIME does not
(clock_gettime(2)). The difference between the two clocks shows a suspension. If the host pauses a virtual machine,
both clocks may stop. Then only the system clock shows the pause, once it is set again.
"""

from __future__ import annotations

import time
from time import perf_counter_ns

_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)

_anchor = time.time_ns() - perf_counter_ns()


def wall_ns() -> int:
    """Return the time since the Unix epoch in ns. It never steps within a process, except by `resync_wall_clock`."""
    return _anchor + perf_counter_ns()


def clock_anchor() -> int:
    """Return the wall-clock time (ns) that corresponds to 0 of `perf_counter_ns`.

    All processes of a run on this machine share it.
    """
    return _anchor


def set_clock_anchor(wall: int) -> None:
    """Set the anchor (see `clock_anchor`) to that of another process on this machine, so that both processes agree."""
    global _anchor
    _anchor = wall


def resync_wall_clock() -> None:
    """Read the system clock again, after a suspension of the machine that `perf_counter_ns` did not count."""
    set_clock_anchor(time.time_ns() - perf_counter_ns())


MAX_READING_GAP_NS = 1_000_000
"""Maximum time in ns between two clock readings that are compared.

If the time is longer, this process was delayed between the readings.
"""


def system_clock_lead_ns() -> int | None:
    """Return how many ns the system clock is ahead of `wall_ns`.

    None if the two clocks could not be read close enough together.
    """
    before = perf_counter_ns()
    system = time.time_ns()
    after = perf_counter_ns()
    return system - _anchor - before if after - before < MAX_READING_GAP_NS else None


def suspended_ns() -> int:
    """Return the total time in ns for which the machine has been suspended. 0 on systems other than Linux.

    If this process is delayed between the two clock readings, the result is too low, never too high.
    """
    if _BOOTTIME is None:
        return 0
    return time.clock_gettime_ns(_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
