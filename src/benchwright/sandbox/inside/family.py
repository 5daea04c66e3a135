"""Tracks a program and all its descendants, and collects their exit statuses; standard library only."""

from __future__ import annotations

import os

from . import system


class Family:
    """All descendants of this process, also after their parents ended. `pid`: the program's process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None
        """The program's wait status, as returned by `waitpid`, or None while it is running."""

    def reap(self) -> bool:
        """Collect all descendants that have ended; return True if any are left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.pid:
                self.status = status


def adopt() -> None:
    """Make this process the new parent of all descendants whose own parents end."""
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)
