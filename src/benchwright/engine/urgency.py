"""The kernel's priority for a thread that has to send on time."""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress

LOWEST = 1
"""The lowest of the priorities that go before those of all ordinary programs."""


def be_urgent() -> bool:
    """Asks that no ordinary program interrupts this thread; whether the kernel grants it.

    It does on Linux to root (CAP_SYS_NICE) and within RLIMIT_RTPRIO, unless the thread was given another policy than
    the usual one before. Processes and threads that it starts are ordinary ones. See sched(7), SCHED_RR.
    """
    if sys.platform != "linux" or os.sched_getscheduler(0) != os.SCHED_OTHER or _is_timed():
        return False
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(LOWEST))
        return True
    return False


def be_ordinary() -> None:
    """Gives back what `be_urgent` was granted."""
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _is_timed() -> bool:
    """Whether a thread that is urgent for too long would be killed (RLIMIT_RTTIME)."""
    limit, _ = resource.getrlimit(resource.RLIMIT_RTTIME)
    return limit != resource.RLIM_INFINITY
