"""Runs a program to its end: input in, output out up to a limit, and nothing of it left behind."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import PIPE
from typing import cast

from benchwright.errors import ExecutionError
from benchwright.orphans import ORPHANS
from benchwright.records import Record

LARGEST_OUTPUT = 10 * 1024 * 1024
KEPT_OF_STDERR = 64 * 1024
"""Bytes kept of what a program writes to stderr: the last ones."""

PATIENCE = 2.0
"""Seconds that a program gets to end after SIGTERM, before SIGKILL."""
DRAIN = 1.0
"""Seconds to wait for output that another program may keep open for good."""


class ProgramResult(Record, frozen=True):
    """How a program ended: its exit status (negative: the signal that killed it), stdout, and stderr's end."""

    status: int
    output: bytes
    errors: str


async def run_program(
    arguments: Sequence[str], given: bytes, environment: Mapping[str, str], folder: Path | None = None
) -> ProgramResult:
    """Runs a program in a session of its own, with `given` as its stdin, in `folder` or where we are.

    When it ends, what it left running in its process group is killed, and so it is with its group where this process
    is killed. Cancelling ends the whole group: SIGTERM, and SIGKILL after two seconds.

    Raises:
        ExecutionError: the program cannot be started, or writes more than 10 MB.
    """
    starting = asyncio.ensure_future(_start(arguments, environment, folder))
    try:
        program = await asyncio.shield(starting)
    except asyncio.CancelledError:
        await (await starting).stop()
        raise
    try:
        program.give(given)
        await asyncio.wait({program.done})  # which does not cancel the future with this task
    finally:
        await program.stop()
    if program.too_much:
        raise ExecutionError(f"the program wrote more than {LARGEST_OUTPUT // 1024**2} MB of output")
    return program.ended()


async def _start(arguments: Sequence[str], environment: Mapping[str, str], folder: Path | None) -> _Program:
    loop = asyncio.get_running_loop()
    ORPHANS.watch()
    try:
        _, program = await loop.subprocess_exec(
            lambda: _Program(loop),
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
        )
    except OSError as error:
        raise ExecutionError(f"cannot start {arguments[0]!r}: {error.strerror or error}") from None
    return program


class _Program(asyncio.SubprocessProtocol):
    """A program under way. `done`: it has exited, or is not worth waiting for; `closed`: all output is read."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.done: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.too_much = False
        self._output = bytearray()
        self._errors = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        ORPHANS.expect(self._transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._errors += data
            del self._errors[:-KEPT_OF_STDERR]
        elif not self.too_much:
            self._output += data
            if len(self._output) > LARGEST_OUTPUT:
                self.too_much = True
                _resolve(self.done)

    def process_exited(self) -> None:
        _resolve(self.done)

    def connection_lost(self, exc: Exception | None) -> None:
        _resolve(self.closed)

    def give(self, data: bytes) -> None:
        stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        if not stdin.is_closing():  # as it is where the program has ended already
            stdin.write(data)
            stdin.close()

    def signal(self, number: signal.Signals) -> None:
        """Signals the process group, if there is still one."""
        try:
            os.killpg(self._transport.get_pid(), number)
        except ProcessLookupError:
            pass

    async def stop(self) -> None:
        try:
            if not self.done.done():
                self.signal(signal.SIGTERM)
                await asyncio.wait({self.done}, timeout=PATIENCE)
        finally:
            self.signal(signal.SIGKILL)
            ORPHANS.forget(self._transport.get_pid())
            await asyncio.wait({self.closed}, timeout=DRAIN)
            self._transport.close()

    def ended(self) -> ProgramResult:
        status = self._transport.get_returncode()
        assert status is not None
        return ProgramResult(status, bytes(self._output), self._errors.decode("utf-8", "replace"))


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
