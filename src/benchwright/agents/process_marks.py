"""Finds the processes of a program whose supervisor was killed. They have a mark in their environment."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

MARK_VARIABLE = "BENCHWRIGHT_PROCESS"
"""Name of the environment variable that serves as the mark. Its value is different for each program."""
SEARCH_ROUNDS = 100
SEARCH_INTERVAL = 0.02
"""`SEARCH_ROUNDS`: maximum number of searches for marked processes.

`SEARCH_INTERVAL`: seconds between two searches. Together they last at most two seconds. The search ends early
if a round finds no marked process.
"""


def kill_marked_processes(value: str) -> int:
    """Kill all processes that have the mark with this value in their environment.

    Return the number of killed processes.

    A process that has cleared its environment is not found. Needs Linux's /proc (proc(5), environ).
    """
    ended: set[int] = set()
    for _ in range(SEARCH_ROUNDS):
        found = set(_marked(f"{MARK_VARIABLE}={value}".encode()))
        if not found:
            break
        ended |= found
        time.sleep(SEARCH_INTERVAL)
    return len(ended)


def _marked(entry: bytes) -> Iterator[int]:
    """Kill each process whose environment has this entry, and yield its pid."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            handle = os.pidfd_open(int(path.name))
        except OSError:
            continue
        try:
            # Read after opening: the handle belongs to this environment's process, or to one that has ended.
            if entry in (path / "environ").read_bytes().split(b"\0"):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                yield int(path.name)
        except OSError:
            pass  # it has ended, or belongs to another user
        finally:
            os.close(handle)
