"""Extends the time limits of programs in containers while this machine is busy with other work.

Time limits are in seconds of wall-clock time. If more processes want to run than there are cores, a program
gets only a share of a core, and needs more time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MAX_LIMIT_FACTOR = 10.0
"""Maximum factor by which a time limit is extended."""

_factor: ContextVar[float] = ContextVar("patience", default=1.0)


@contextmanager
def extend_limits_if_busy() -> Iterator[None]:
    """Extend this task's time limits until exit, in proportion to the last minute's load per core.

    Time limits are never shortened.
    """
    token = _factor.set(_load_per_core())
    try:
        yield
    finally:
        _factor.reset(token)


def time_limit_factor() -> float:
    """Return the factor by which time limits are extended in this task.

    The factor is 1 unless `extend_limits_if_busy` is active.
    """
    return _factor.get()


def _load_per_core() -> float:
    """Return the last minute's average number of running or waiting processes per core (see getloadavg(3)).

    A value below 1 is returned as 1, and a value above `MAX_LIMIT_FACTOR` as `MAX_LIMIT_FACTOR`.
    """
    if not hasattr(os, "getloadavg"):
        return 1.0
    return min(max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0), MAX_LIMIT_FACTOR)
