"""Longer limits of time for programs in containers, while a machine is busy with other work.

Limits count seconds of the clock. On a machine with more work than cores a program gets only a share of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST = 10.0
"""How many times as long a limit may become."""

_factor: ContextVar[float] = ContextVar("patience", default=1.0)


@contextmanager
def patient_if_busy() -> Iterator[None]:
    """While entered, this task's limits are longer by the load of the last minute per core; never shorter."""
    token = _factor.set(_load_per_core())
    try:
        yield
    finally:
        _factor.reset(token)


def patience() -> float:
    """Return by which factor limits are longer in this task; 1 unless `patient_if_busy` is entered."""
    return _factor.get()


def _load_per_core() -> float:
    """Return the processes that ran or waited, per core, of the last minute (getloadavg(3)): from 1 to `MOST`."""
    if not hasattr(os, "getloadavg"):
        return 1.0
    return min(max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0), MOST)
