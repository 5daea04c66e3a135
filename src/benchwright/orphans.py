"""No program that we started outlives us, even if we are killed (`kill -9`) and can do nothing about it.

A small watching process, started with the first such program, holds the other end of a pipe, and reads there of each
program and its end. When the pipe ends, this process is gone. The watching process then kills what is left, and runs
the clean-up commands of what no signal reaches, such as containers.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock

from benchwright.own_processes import bare_command

WATCH = """
import json, os, signal, sys
left, commands = set(), []
for line in sys.stdin:
    sign, rest = line[0], line[1:]
    if sign in "+-":
        (left.add if sign == "+" else left.discard)(int(rest))
    else:
        (commands.append if sign == "(" else commands.remove)(rest)
for pid in left:
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except OSError:
            pass
if commands:
    import subprocess
    for command in set(commands):
        command, folder = json.loads(command)
        try:
            subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL)
        except OSError:
            pass
"""
"""Reads "+PID" and "-PID", and a command as JSON behind "(" and, once it is no longer needed, behind ")": one a line.
A program that leads a process group is killed with its group."""

END_SECONDS = 2.0
"""How long the watching process is waited for at the end."""


class Orphans:
    """The programs that are to be killed should this process be gone before them."""

    def __init__(self) -> None:
        self._watcher: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def watch(self) -> None:
        """Starts the watching process, if there is none yet: it takes longer than the start of a program may wait."""
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
        """Ends the watching process, which kills what is left."""
        assert self._watcher is not None
        assert self._watcher.stdin is not None
        self._watcher.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._watcher.wait(END_SECONDS)

    def expect(self, pid: int) -> None:
        """Takes note of a program; with it goes its process group, if it leads one."""
        self._tell(b"+%d\n" % pid)

    def forget(self, pid: int) -> None:
        """Takes note that the program has ended."""
        self._tell(b"-%d\n" % pid)

    @contextmanager
    def expecting(self, pid: int) -> Iterator[None]:
        """Expects a program, and forgets it when the context is left."""
        self.expect(pid)
        try:
            yield
        finally:
            self.forget(pid)

    @contextmanager
    def cleaned_up_by(self, command: Sequence[str]) -> Iterator[None]:
        """While entered, have the watching process run this command, in this folder, if this process is killed."""
        line = json.dumps([[*command], os.getcwd()]).encode()
        self._tell(b"(%b\n" % line)
        try:
            yield
        finally:
            self._tell(b")%b\n" % line)

    def _tell(self, line: bytes) -> None:
        self.watch()
        assert self._watcher is not None
        assert self._watcher.stdin is not None
        try:
            with self._lock:
                self._watcher.stdin.write(line)
        except BrokenPipeError:
            pass  # somebody ended it; what we started ends with us only where we end in good order


ORPHANS = Orphans()
"""Those of this process."""
