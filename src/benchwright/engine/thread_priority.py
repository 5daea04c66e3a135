"""Real-time priority for a thread at the moment at which it must send a request."""

from __future__ import annotations

import os
import resource
from functools import cache

LOWEST_PRIORITY = 1
"""The lowest real-time priority. It is above the priority of all ordinary programs."""


@cache
def can_raise_thread_priority() -> bool:
    """Return True if this program may get and use real-time priority (SCHED_RR of sched(7)).

    Linux grants this priority to root (CAP_SYS_NICE) and within RLIMIT_RTPRIO. Return False in two other
    cases. The first is a program that was started with an unusual policy, because it keeps that policy. The
    second is a program that would be killed for running too long at this priority (RLIMIT_RTTIME).
    """
    if not (hasattr(os, "sched_setscheduler") and hasattr(resource, "RLIMIT_RTTIME")):
        return False
    if os.sched_getscheduler(0) != os.SCHED_OTHER:
        return False
    if resource.getrlimit(resource.RLIMIT_RTTIME)[0] != resource.RLIM_INFINITY:
        return False
    try:
        raise_thread_priority()
    except OSError:
        return False
    reset_thread_priority()
    return True


def raise_thread_priority() -> None:
    """Give this thread priority over all ordinary programs.

    Processes and threads that this thread starts have ordinary priority.
    """
    os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(LOWEST_PRIORITY))


def reset_thread_priority() -> None:
    """Give this thread ordinary priority again."""
    os.sched_setscheduler(
        0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0)
    )  # only root may unset this
