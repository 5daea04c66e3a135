"""A program and all that descends from it, of whose ends this process is told; standard library only."""

from __future__ import annotations

import os

from . import system


class Family:
    """The descendants of this process, which adopts those whose parents ended. `pid` is the program's own process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None
        """How the program ended, as `waitpid` reports it; None while it runs."""

    def reap(self) -> bool:
        """Take note of all that have ended; return whether any are left."""
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
    """Make this process the parent of all descendants whose own parents end."""
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)
