"""Tracks a program and all its descendants, and collects their exit statuses. Uses only the standard library."""

from __future__ import annotations

import os

from . import system


class Family:
    """All descendants of this process, even after their parents have ended. `pid`: the process of the program."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None
        """The program's wait status, as `waitpid` returns it; None while the program is running."""

    def reap(self) -> bool:
        """Collect all descendants that have ended. Return True if any are still running."""
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
