"""Runs a program to its end: input in, output out up to a limit, and nothing of it left behind.

It is started by a supervisor, a small process of ours that ends whatever the program has started (`supervisor.py`).
"""

from __future__ import annotations

import asyncio
import functools
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from subprocess import PIPE
from typing import cast

import msgspec

from benchwright import descendants, supervisor
from benchwright.errors import ExecutionError
from benchwright.orphans import ORPHANS
from benchwright.own_processes import bare_command, text_of
from benchwright.records import Record

LARGEST_OUTPUT = 10 * 1024 * 1024
KEPT_OF_STDERR = 64 * 1024
"""Bytes kept of what a program writes to stderr: the last ones."""

SUPERVISOR_SECONDS = 15.0
"""How long the supervisor may take to end a program and what it has started, before it is killed itself."""
MOST_TOLD = 64 * 1024
DRAIN = 1.0
"""Seconds to wait for output that another program may keep open for good."""


Left = Mapping[str, int]
"""How many processes of each name a program had left running, which were ended."""


class ProgramResult(Record, frozen=True):
    """How a program ended: its exit status (negative: the signal that killed it), stdout, and stderr's end."""

    status: int
    output: bytes
    errors: str


class _Told(Record, frozen=True):
    """What a supervisor tells at its end."""

    status: int = 0
    left: dict[str, int] = {}
    error: str | None = None


def left_note(left: Left) -> str:
    """Say how many processes were ended, and which, in one line."""
    count = sum(left.values())
    which = ", ".join(f"{name} ({number})" if number > 1 else name for name, number in left.items())
    return f"{count:,} {'process' if count == 1 else 'processes'} left running and ended: {which}"


async def run_program(
    arguments: Sequence[str],
    given: bytes,
    environment: Mapping[str, str],
    folder: Path | None = None,
    tell_left: Callable[[Left], None] | None = None,
) -> ProgramResult:
    """Run a program in a session of its own, with `given` as its stdin, in `folder` or where we are.

    When it ends, every process that it started and left running is killed, in whatever session; `tell_left` is called
    if there were any. So it is if this process is killed. Cancelling sends the program SIGTERM first, and kills it
    after two seconds.

    Raises:
        ExecutionError: If the program cannot be started, or writes more than 10 MB.
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
        told = await program.stop()
        if told.left and tell_left is not None:
            tell_left(told.left)
    if program.too_much:
        raise ExecutionError(f"the program wrote more than {LARGEST_OUTPUT // 1024**2} MB of output")
    if told.error is not None:
        raise ExecutionError(f"cannot start {arguments[0]!r}: {told.error}")
    return program.ended(told)


async def _start(arguments: Sequence[str], environment: Mapping[str, str], folder: Path | None) -> _Program:
    loop = asyncio.get_running_loop()
    mark = token_hex(16)
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    ORPHANS.expect_marked(mark)
    try:
        _, program = await loop.subprocess_exec(
            lambda: _Program(loop, ours, mark),
            *bare_command(_supervisor(), str(theirs.fileno()), mark, *arguments),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
            pass_fds=[theirs.fileno()],
        )
    except OSError as error:
        ours.close()
        ORPHANS.forget_marked(mark)
        raise ExecutionError(f"cannot start {arguments[0]!r}: {error.strerror or error}") from None
    finally:
        theirs.close()
    return program


@functools.cache
def _supervisor() -> str:
    return text_of(descendants) + text_of(supervisor)


class _Program(asyncio.SubprocessProtocol):
    """A program under way, with its supervisor at the other end of `control`.

    `exited`: the supervisor has ended, and with it everything; `done`: that, or the program is not worth waiting for;
    `closed`: all output is read.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, control: socket.socket, mark: str) -> None:
        self.done: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.too_much = False
        self._control = control
        self._mark = mark
        self._output = bytearray()
        self._errors = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

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
        _resolve(self.exited)
        _resolve(self.done)

    def connection_lost(self, exc: Exception | None) -> None:
        _resolve(self.closed)

    def give(self, data: bytes) -> None:
        stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        if not stdin.is_closing():  # as it is where the program has ended already
            stdin.write(data)
            stdin.close()

    async def stop(self) -> _Told:
        """End the program and all that it has started; returns what its supervisor told."""
        stopping = asyncio.ensure_future(self._stop())
        try:
            return await asyncio.shield(stopping)
        except asyncio.CancelledError:
            await stopping  # at once or not: nothing of it may be left
            raise

    async def _stop(self) -> _Told:
        if not self.exited.done():
            self._control.shutdown(socket.SHUT_WR)
            await asyncio.wait({self.exited}, timeout=SUPERVISOR_SECONDS)
        told = self._told()
        if told is None:  # somebody killed the supervisor
            if not self.exited.done():
                self._transport.kill()
            marked = functools.partial(descendants.marked, self._mark)
            ended = await asyncio.to_thread(descendants.end_all, marked)
            told = _Told(self._transport.get_returncode() or 0, {name: ended.count(name) for name in ended})
        self._control.close()
        ORPHANS.forget_marked(self._mark)
        await asyncio.wait({self.closed}, timeout=DRAIN)
        self._transport.close()
        return told

    def _told(self) -> _Told | None:
        try:
            return msgspec.json.decode(self._control.recv(MOST_TOLD), type=_Told)
        except (OSError, msgspec.DecodeError):
            return None

    def ended(self, told: _Told) -> ProgramResult:
        return ProgramResult(told.status, bytes(self._output), self._errors.decode("utf-8", "replace"))


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
