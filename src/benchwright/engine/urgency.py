"""The kernel's priority for a thread at the moment at which it has to send."""

from __future__ import annotations

import os
import resource
import sys
from functools import cache

LOWEST = 1
"""The lowest of the priorities that go before those of all ordinary programs."""


@cache
def may_be_urgent() -> bool:
    """Whether the kernel lets this program go before ordinary ones (SCHED_RR of sched(7)).

    On Linux it lets root (CAP_SYS_NICE), and who is within RLIMIT_RTPRIO. A program that was started with another
    policy than the usual one keeps it, and one that would be ended for being urgent too long (RLIMIT_RTTIME) does
    not ask.
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
    """Lets no ordinary program interrupt this thread; what it starts is ordinary."""
    os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(LOWEST))


def be_ordinary() -> None:
    """Makes this thread one among all others again."""
    os.sched_setscheduler(
        0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0)
    )  # only root may unset this
