"""Kills the programs that this process started if it dies first, even by `kill -9`.

A small watcher process is started with the first such program. It reads from a pipe the process id of each
program that starts or ends. When the pipe closes, this process is gone, and the watcher kills the programs
that are left.
"""

from __future__ import annotations

import atexit
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

from benchwright.own_processes import bare_command

WATCH = """
import os, signal, sys
left = set()
for line in sys.stdin:
    (left.add if line[0] == "+" else left.discard)(int(line[1:]))
for pid in left:
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except OSError:
            pass
"""
"""Code of the watcher.

It reads lines "+PID" and "-PID". If a program leads a process group, its group is killed with it.
"""

END_SECONDS = 2.0
"""Maximum seconds to wait for the watcher at exit."""


class Orphans:
    """Registry of programs to kill if this process dies before them."""

    def __init__(self) -> None:
        self._watcher: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def watch(self) -> None:
        """Start the watcher process if there is none yet.

        Call it early: a program's start should not wait for that.
        """
        with self._lock:
            if self._watcher is None:
                self._watcher = subprocess.Popen(
                    bare_command(WATCH),
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    start_new_session=True,  # neither Ctrl-C nor the end of the terminal reaches it
                )
                atexit.register(self._end)

    def _end(self) -> None:
        """End the watcher process, which then kills the programs that are left."""
        assert self._watcher is not None
        assert self._watcher.stdin is not None
        self._watcher.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._watcher.wait(END_SECONDS)

    def expect(self, pid: int) -> None:
        """Register a running program, to be killed with its process group if it leads one."""
        self._tell(b"+%d\n" % pid)

    def forget(self, pid: int) -> None:
        """Remove a program that has ended."""
        self._tell(b"-%d\n" % pid)

    @contextmanager
    def expecting(self, pid: int) -> Iterator[None]:
        """Register a program, and remove it on exit from the context."""
        self.expect(pid)
        try:
            yield
        finally:
            self.forget(pid)

    def _tell(self, line: bytes) -> None:
        self.watch()
        assert self._watcher is not None
        assert self._watcher.stdin is not None
        try:
            self._watcher.stdin.write(line)  # short enough that lines of several threads do not mix
        except BrokenPipeError:
            pass  # somebody killed the watcher: programs then end with this process only on an orderly exit


ORPHANS = Orphans()
"""The registry of this process."""
