"""Real-time priority for a thread at the moment at which it has to send."""

from __future__ import annotations

import os
import resource
import sys
from functools import cache

LOWEST = 1
"""The lowest of the priorities above those of all ordinary programs."""


@cache
def may_be_urgent() -> bool:
    """Return whether the kernel grants this program priority over ordinary ones (SCHED_RR of sched(7)).

    Linux grants it to root (CAP_SYS_NICE) and within RLIMIT_RTPRIO. A program that was started with an
    unusual policy keeps it. A program that would be killed for being urgent too long (RLIMIT_RTTIME) does not
    ask.
    """
    if sys.platform != "linux" or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return False
    if resource.getrlimit(resource.RLIMIT_RTTIME)[0] != resource.RLIM_INFINITY:
        return False
    try:
        be_urgent()
    except OSError:
        return False
    be_ordinary()
    return True


def be_urgent() -> None:
    """Give this thread priority over all ordinary programs.

    Processes and threads that it starts stay ordinary.
    """
    os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(LOWEST))


def be_ordinary() -> None:
    """Give this thread ordinary priority again."""
    os.sched_setscheduler(
        0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0)
    )  # only root may unset this
