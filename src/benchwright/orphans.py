"""Kills the programs that this process started, if this process dies before them (even by `kill -9`).

A small watcher process is started with the first such program. The watcher reads from a pipe the process id of each
program that starts or ends. When the pipe closes, this process is gone. The watcher then kills the programs that
still run, and runs clean-up commands for things that no signal reaches, such as containers.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock

from benchwright.python_commands import standard_library_command

WATCHER_CODE = """
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
"""Python code of the watcher process, which reads one line per message.

"+PID" says that a program has started, and "-PID" that it has ended. "(COMMAND" says that a clean-up command (as
JSON) is needed from now on, and ")COMMAND" that it is no longer needed. If a program leads a process group, the
watcher kills the whole group.
"""

MAX_EXIT_SECONDS = 2.0
"""Maximum seconds for which this process waits for the watcher when it exits."""


class OrphanRegistry:
    """Registry of child programs that are to be killed if this process dies before they end."""

    def __init__(self) -> None:
        self._watcher: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def start_watcher(self) -> None:
        """Start the watcher process if there is none yet.

        Call it early, so that the start of a program does not have to wait for it.
        """
        with self._lock:
            if self._watcher is None:
                self._watcher = subprocess.Popen(
                    standard_library_command(WATCHER_CODE),
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    start_new_session=True,  # neither Ctrl-C nor the end of the terminal reaches it
                )
                atexit.register(self._end)

    def _end(self) -> None:
        """End the watcher process. It then kills the registered programs that still run."""
        assert self._watcher is not None
        assert self._watcher.stdin is not None
        self._watcher.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._watcher.wait(MAX_EXIT_SECONDS)

    def register(self, pid: int) -> None:
        """Register a running program, to be killed if this process dies.

        If the program leads a process group, the whole group is killed.
        """
        self._tell(b"+%d\n" % pid)

    def unregister(self, pid: int) -> None:
        """Remove a program that has ended from the registry."""
        self._tell(b"-%d\n" % pid)

    @contextmanager
    def registered_program(self, pid: int) -> Iterator[None]:
        """Register a program while the context is open."""
        self.register(pid)
        try:
            yield
        finally:
            self.unregister(pid)

    @contextmanager
    def with_cleanup_command(self, command: Sequence[str]) -> Iterator[None]:
        """Let the watcher run a clean-up command if this process dies while the context is open.

        The command runs in the folder that is current now.
        """
        line = json.dumps([[*command], os.getcwd()]).encode()
        self._tell(b"(%b\n" % line)
        try:
            yield
        finally:
            self._tell(b")%b\n" % line)

    def _tell(self, line: bytes) -> None:
        self.start_watcher()
        assert self._watcher is not None
        assert self._watcher.stdin is not None
        try:
            with self._lock:
                self._watcher.stdin.write(line)
        except BrokenPipeError:
            pass  # somebody killed the watcher: programs then end with this process only on an orderly exit


ORPHANS = OrphanRegistry()
"""The registry of this process's child programs."""
