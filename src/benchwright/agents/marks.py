"""A mark in the environment of all that a program starts: how its processes are found if its keeper was killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

MARK = "BENCHWRIGHT_PROCESS"
"""The variable; its value is one of each program."""
ROUNDS = 100
ROUND_SECONDS = 0.02
"""How often, and after which time, marked processes are looked for again: two seconds in all."""


def end_marked(value: str) -> int:
    """Kill all processes that were started with this value of the mark; return how many there were.

    A process that has cleared its environment is not found. Needs Linux's /proc (proc(5), environ).
    """
    ended: set[int] = set()
    for _ in range(ROUNDS):
        found = set(_marked(f"{MARK}={value}".encode()))
        if not found:
            break
        ended |= found
        time.sleep(ROUND_SECONDS)
    return len(ended)


def _marked(entry: bytes) -> Iterator[int]:
    """Kill each process that has this entry in its environment, and yield its number."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            handle = os.pidfd_open(int(path.name))
        except OSError:
            continue
        try:
            # Read after it was opened: the handle is of the process whose environment this is, or of an ended one.
            if entry in (path / "environ").read_bytes().split(b"\0"):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                yield int(path.name)
        except OSError:
            pass  # it has ended, or is another user's
        finally:
            os.close(handle)
