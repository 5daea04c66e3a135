"""Finds out whether programs can be supervised on this machine, so that all their processes are found and ended."""

from __future__ import annotations

import ctypes
import os
from functools import cache


@cache
def supervision_failure() -> str | None:
    """Return why programs cannot be supervised on this machine. Return None if they can.

    A supervisor adopts orphaned processes (prctl(2), PR_SET_CHILD_SUBREAPER), waits for processes by handles
    (pidfd_open(2)), and finds processes in /proc (proc(5)).
    """
    parts = {
        "prctl": hasattr(ctypes.CDLL(None), "prctl"),
        "pidfd_open": hasattr(os, "pidfd_open"),
        "/proc": os.path.exists("/proc/self/stat"),
    }
    lacking = [part for part, is_there in parts.items() if not is_there]
    return f"it needs Linux, and there is no {', '.join(lacking)} here" if lacking else None
