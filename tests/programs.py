"""`python -m benchwright` as a process of its own, forked off where that makes no difference (see `fork_server`).

What is about the start itself (its cost, buffers, a terminal) starts a Python with `subprocess` instead.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, AnyStr

READ_AT_THE_START = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_", "OPENBLAS_", "OMP_", "SSL_")
"""Beginnings of the variables that Python and its libraries read once, when they start."""


def start_benchwright(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    stdin: int | IO[Any] | None = None,
    stdout: int | IO[Any] | None = None,
    stderr: int | IO[Any] | None = None,
    text: bool = True,
    fork: bool = True,
) -> subprocess.Popen[Any]:
    """Starts the program and does not wait for it; streams are given as to `subprocess.Popen`.

    With `fork` false, or where Python would read another environment at its start, it is a Python of its own.
    """
    variables = dict(os.environ if environment is None else environment)
    command = [sys.executable, "-m", "benchwright", *arguments]
    same = _read_at_the_start(variables) == _OURS
    kind: type[subprocess.Popen[Any]] = Fork if fork and same else subprocess.Popen
    return kind(command, env=variables, cwd=directory, stdin=stdin, stdout=stdout, stderr=stderr, text=text)


def run_benchwright(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    typed: str = "",
    timeout: float = 60,
) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end; `typed` is what it reads from stdin."""
    process = start_benchwright(
        arguments,
        environment=environment,
        directory=directory,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            out, err = process.communicate(typed, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


class Fork(subprocess.Popen[AnyStr]):
    """A process that the fork server has started, and waits for in our place."""

    def _execute_child(self, args: Any, *more: Any) -> None:
        _, _, _, _, directory, environment, _, _, _, *pipes = more[:15]
        read, _, _, write, _, errors = pipes
        request = {
            "arguments": args[3:],
            "directory": str(directory or os.getcwd()),
            "environment": environment,
        }
        streams = [given if given >= 0 else own for given, own in ((read, 0), (write, 1), (errors, 2))]
        self._reports = _server().start(request, streams)
        self.pid = int(self._reports.readline())
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _internal_poll(self, **_: object) -> int | None:
        self._look(0)
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        self._look(timeout)
        if self.returncode is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def _look(self, timeout: float | None) -> None:
        if self.returncode is None and select.select([self._reports], [], [], timeout)[0]:
            with self._reports:
                self.returncode = int(self._reports.readline())


class _Server:
    """The fork server of this process."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._turn = threading.Lock()
        with theirs:
            script = Path(__file__).with_name("fork_server.py")
            command = [sys.executable, str(script), str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def start(self, request: dict[str, Any], streams: list[int]) -> IO[bytes]:
        """Starts a process; the reports on it."""
        ours, theirs = os.pipe()
        with self._turn:
            socket.send_fds(self._socket, [json.dumps(request).encode()], [*streams, theirs])
        os.close(theirs)
        return open(ours, "rb", buffering=0)

    def end(self) -> None:
        """Ends the server; what it has started goes on."""
        self._socket.close()
        self._process.wait()


@cache
def _server() -> _Server:
    server = _Server()
    atexit.register(server.end)
    return server


def _read_at_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(READ_AT_THE_START) and name != "PYTHONUNBUFFERED"  # which the server heeds
    }


_OURS = _read_at_the_start(os.environ)
