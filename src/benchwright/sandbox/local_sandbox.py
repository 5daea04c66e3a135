"""Runs programs in a sandbox on this machine."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from benchwright.sandbox.isolation_methods import IsolationMethod, choose_isolation_method
from benchwright.sandbox.launch import Isolation, start_program
from benchwright.sandbox.limits import Limits, SandboxResult
from benchwright.sandbox.output import HeadAndTail
from benchwright.sandbox.process import SandboxProcess
from benchwright.sandbox.running_program import RunningProgram
from benchwright.sandbox.users import TemporaryUserIds

MAX_LIVE_PROCESSES = 64
"""Maximum number of long-lived processes. They mostly wait, so they do not count towards `at_once`."""

DRAIN_SECONDS = 1.0
"""Seconds to wait for the end of the output. An escaped process may keep the pipe open forever."""


class PythonAttempt(NamedTuple):
    """The outcome of a Python program.

    `passed`: True if control reached the program's end. `error_text`: the exception that was raised, or "".
    """

    result: SandboxResult
    passed: bool
    error_text: str


class LocalSandbox:
    """Runs programs on this machine, isolated from the network, from the user's files, and from each other.

    At most `at_once` programs run concurrently (default: the number of processors); other programs wait. Use
    it from one event loop at a time.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        at_once: int | None = None,
        protection: IsolationMethod | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._protection = protection
        self._places = asyncio.Semaphore(at_once or os.cpu_count() or 1)
        self._places_of_processes = asyncio.Semaphore(MAX_LIVE_PROCESSES)
        self._users = TemporaryUserIds()

    @property
    def isolation_method(self) -> IsolationMethod:
        """The protection in use.

        If none was given, it is determined at the first use, which takes about 0.2 s.
        """
        if self._protection is None:
            self._protection = choose_isolation_method()
        return self._protection

    async def run(
        self,
        argv: Sequence[str],
        *,
        files: Mapping[str, bytes] | None = None,
        stdin: bytes = b"",
        limits: Limits | None = None,
    ) -> SandboxResult:
        """Run a program until it ends. Then end all processes that it started, and return its result.

        `files`: a mapping from the relative name to the content, written to the folder in which the program
        starts. The program's environment has PATH, HOME, TMPDIR and LANG. Cancelling ends the program.

        Raises:
            ExecutionError: If the sandbox or the program cannot be started.
        """
        ended, _ = await self._run({"argv": list(argv)}, files or {}, stdin, limits or self.limits)
        return ended

    async def attempt_python(self, program: str, *, limits: Limits | None = None) -> PythonAttempt:
        """Execute a Python program and return its outcome.

        The program passes only if control reaches its end; see `run_python`.

        Raises:
            ExecutionError: If the sandbox cannot be started.
        """
        source = {"program": program.encode("utf-8", "surrogatepass")}
        ended, ending = await self._run(source, {}, b"", limits or self.limits)
        return PythonAttempt(ended, ending.get("passed", False), ending.get("told", ""))

    async def _run(
        self, program: Mapping[str, Any], files: Mapping[str, bytes], stdin: bytes, limits: Limits
    ) -> tuple[SandboxResult, dict[str, Any]]:
        async with (
            self._places,
            self._cell(limits) as cell,
            start_program(cell, program, files, stdin=bool(stdin)) as running,
        ):
            return await _to_the_end(running, stdin, limits)

    @asynccontextmanager
    async def start_process(
        self,
        argv: Sequence[str],
        *,
        files: Mapping[str, bytes] | None = None,
        limits: Limits | None = None,
        busy: bool = False,
    ) -> AsyncIterator[SandboxProcess]:
        """Start a long-lived program that reads and writes lines.

        On exit, end the program and all processes that it started.

        `limits.wall_seconds` limits the program's whole life. At most 64 such programs can be open; further
        ones wait. `busy`: True if the program computes rather than waits, so that it counts towards
        `at_once`.

        Raises:
            ExecutionError: If the sandbox or the program cannot be started.
        """
        limits = limits or self.limits
        places = self._places if busy else self._places_of_processes
        async with places, self._cell(limits) as cell:
            asked = {"argv": list(argv)}
            async with start_program(
                cell, asked, files or {}, stdin=True, line_bytes=limits.line_bytes
            ) as running:
                process = SandboxProcess(running, limits)
                errors = asyncio.ensure_future(process.read_errors())
                errors.add_done_callback(lambda _: running.request_end())
                try:
                    yield process
                finally:
                    errors.cancel()

    @asynccontextmanager
    async def _cell(self, limits: Limits) -> AsyncIterator[Isolation]:
        if self._protection is None:
            self._protection = await asyncio.to_thread(choose_isolation_method)
        user = self._users.acquire()
        try:
            yield Isolation(self._protection.name, user, limits)
        finally:
            self._users.release(user)


async def _to_the_end(
    running: RunningProgram, stdin: bytes, limits: Limits
) -> tuple[SandboxResult, dict[str, Any]]:
    process = running.process
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors = HeadAndTail(limits.kept_bytes), HeadAndTail(limits.kept_bytes)
    began = time.monotonic()

    async def read(stream: asyncio.StreamReader, kept: HeadAndTail) -> None:
        while data := await stream.read(2**16):
            kept.feed(data)
            if output.total + errors.total > limits.output_bytes:
                running.request_end()
                return

    reading = [
        asyncio.ensure_future(read(process.stdout, output)),
        asyncio.ensure_future(read(process.stderr, errors)),
        asyncio.ensure_future(_feed(process.stdin, stdin)),
    ]
    try:
        ending = await running.wait_for_end(limits.wall_seconds)
        await asyncio.wait(reading, timeout=DRAIN_SECONDS)
    finally:
        for task in reading:
            task.cancel()
    too_much = output.total + errors.total > limits.output_bytes
    ended = SandboxResult(
        reason="output" if too_much else ending["reason"],
        exit_code=ending.get("exit_code"),
        signal=ending.get("signal"),
        stdout=output.content(),
        stderr=errors.content(),
        stdout_omitted_bytes=output.missing_bytes,
        stderr_omitted_bytes=errors.missing_bytes,
        seconds=ending.get("seconds", time.monotonic() - began),
    )
    return ended, ending


async def _feed(stdin: asyncio.StreamWriter | None, data: bytes) -> None:
    if stdin is None:
        return
    try:
        stdin.write(data)
        await stdin.drain()
        stdin.close()
    except OSError:
        pass  # the program has ended or closed its stdin
