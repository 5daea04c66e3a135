"""Runs started from a page, each by a command in its own process group.

When the viewer ends, the commands are asked to stop: requests in flight are finished and saved, and the runs can be
resumed. If the viewer is killed, the commands are killed, too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import IO

from benchwright.environment_file import ENVIRONMENT_FILE
from benchwright.orphans import ORPHANS
from benchwright.python_commands import module_command
from benchwright.records import Record
from benchwright.secrets import SECRETS
from benchwright.text import Say

MAX_OUTPUT_BYTES = 16_000
"""Maximum number of bytes that are shown from the end of a command's output."""

MAX_KEPT_COMMANDS = 50
GRACE_SECONDS = 15.0
"""Seconds that commands have to finish requests in flight when the viewer ends."""


class LaunchedCommand(Record, frozen=True):
    """A command that was started from a page, as shown there.

    `exit_code`: the command's exit code; None while it is running. `output`: the end of the command's output. `run`:
    the run that the command resumes or retries; "" if it starts a new run.
    """

    number: int
    title: str
    exit_code: int | None
    output: str
    run: str = ""


class _Child:
    def __init__(
        self, number: int, title: str, run: str, process: subprocess.Popen[bytes], output: IO[bytes]
    ) -> None:
        self.number = number
        self.title = title
        self.run = run
        self.process = process
        self.output = output

    def code(self) -> int | None:
        """Return the exit code of the command. Return None while the command is running."""
        if self.process.returncode is None and self.process.poll() is not None:
            ORPHANS.unregister(self.process.pid)
        return self.process.returncode

    def report(self) -> LaunchedCommand:
        size = os.fstat(self.output.fileno()).st_size
        tail = os.pread(self.output.fileno(), MAX_OUTPUT_BYTES, max(0, size - MAX_OUTPUT_BYTES))
        said = SECRETS.redact(tail.decode("utf-8", "replace"))
        return LaunchedCommand(self.number, self.title, self.code(), said.strip(), self.run)


class LaunchedCommands:
    """Starts commands from pages, and keeps track of them."""

    def __init__(self) -> None:
        self._children: list[_Child] = []
        self._lock = Lock()
        self._number = 0

    def start(
        self,
        arguments: Sequence[str],
        title: str,
        *,
        run: str = "",
        environment: Mapping[str, str] = {},
        directory: Path | None = None,
    ) -> int:
        """Start `benchwright` with these arguments. Return the number of the command.

        `environment`: variables that are added to our own environment. Secrets must be passed there, because every user
        of the machine can see a command's arguments.
        """
        output = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the child
        process = subprocess.Popen(
            module_command("benchwright", *arguments),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=directory,
            env={**ENVIRONMENT_FILE.environment_without(), **environment},
        )
        ORPHANS.register(process.pid)
        with self._lock:
            self._number += 1
            self._children.append(_Child(self._number, title, run, process, output))
            while len(self._children) > MAX_KEPT_COMMANDS and self._children[0].code() is not None:
                self._children.pop(0).output.close()
            return self._number

    def all_commands(self) -> list[LaunchedCommand]:
        """Return all started commands, the newest first."""
        with self._lock:
            return [child.report() for child in reversed(self._children)]

    def last_of_run(self, run: str) -> LaunchedCommand | None:
        """Return the last command that resumed or retried a run. None if there is no such command."""
        return next((child for child in self.all_commands() if child.run == run), None)

    def close(self, say: Say) -> None:
        """Stop all running commands.

        First ask each command to stop, then ask it to stop at once, then kill it.
        """
        with self._lock:
            children, self._children = self._children, []
        running = [child for child in children if child.code() is None]
        if running:
            say(f"Stopping {len(running)} run(s) that were started here; `benchwright resume` resumes them.")
        for number, seconds in (
            (signal.SIGINT, GRACE_SECONDS),
            (signal.SIGINT, GRACE_SECONDS / 3),
            (signal.SIGKILL, GRACE_SECONDS),
        ):
            _signal(running, number)
            running = _left(running, seconds)
        for child in children:
            child.output.close()


def _signal(children: Sequence[_Child], number: signal.Signals) -> None:
    for child in children:
        try:
            os.killpg(child.process.pid, number)
        except ProcessLookupError:
            continue


def _left(children: Sequence[_Child], seconds: float) -> list[_Child]:
    end = time.monotonic() + seconds
    left = list(children)
    while left and time.monotonic() < end:
        left = [child for child in left if child.code() is None]
        time.sleep(0.02 if left else 0)
    return left
