"""Runs an agent's program until it ends. Then ends all processes that the program started."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from subprocess import PIPE
from typing import cast

import msgspec

from benchwright.agents.process_marks import MARK_VARIABLE, kill_marked_processes
from benchwright.errors import ExecutionError
from benchwright.orphans import ORPHANS
from benchwright.python_commands import standard_library_command
from benchwright.records import Record
from benchwright.sandbox import layout
from benchwright.sandbox.supervision import supervision_failure

MAX_OUTPUT_BYTES = 10 * 1024 * 1024
MAX_STDERR_BYTES = 64 * 1024
"""Number of bytes that are kept of a program's stderr. Of longer output, the last bytes are kept."""

KILL_DELAY = 2.0
"""Seconds between SIGTERM and SIGKILL."""
SUPERVISOR_TIMEOUT = KILL_DELAY + 4.0
"""Seconds in which the supervisor must end all processes. After that, this process kills them."""
DRAIN_SECONDS = 1.0
"""Seconds to wait for remaining output. Another program may keep the pipe open forever."""

HAS_SUPERVISOR = supervision_failure() is None
SUPERVISOR_START_CODE = (
    "import sys; sys.path[:0] = sys.argv[1:3]; import process_supervisor; process_supervisor.start()"
)
SUPERVISOR_IMPORT_FOLDERS = (str(Path(__file__).parent), str(layout.INSIDE_FOLDER.parent))


class ProgramResult(Record, frozen=True):
    """The result of a program.

    `exit_status`: the exit status, negative if a signal killed the program. `output`: the program's stdout.
    `stderr`: the end of the program's stderr.
    """

    exit_status: int
    output: bytes
    stderr: str


class LeftoverProcesses(Record, frozen=True):
    """The processes that a program left running, and that were then ended: their number, and some of their names.

    Known on Linux only.
    """

    process_count: int
    names: list[str]

    def __str__(self) -> str:
        """Return a sentence for the trial, with the number and the names of the processes."""
        names = ", ".join(self.names)
        if self.process_count == 1:
            return f"the agent left a process running, which was ended: {names}"
        return f"the agent left {self.process_count} processes running, which were ended: {names}"


class _Ending(Record, frozen=True):
    """The supervisor's report on the program's end; see `process_supervisor`."""

    status: int = -signal.SIGKILL
    left: int = 0
    names: list[str] = []
    trouble: str = ""


async def run_program(
    arguments: Sequence[str],
    given: bytes,
    environment: Mapping[str, str],
    folder: Path | None = None,
    on_left: Callable[[LeftoverProcesses], None] | None = None,
) -> ProgramResult:
    """Run a program in its own session, with `given` as its stdin, in `folder` or the current directory.

    When the program ends, or if this process is killed, all processes that the program started are ended. On
    Linux, these are all descendants, in any session. Elsewhere, they are the processes of the program's
    process group. If the supervisor was killed, the descendants are found by their mark (`process_marks`).
    Cancelling sends SIGTERM, and SIGKILL after two seconds. `on_left`: called with the processes that the
    program left running, if any, even after cancelling.

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
        await asyncio.wait({program.done})  # unlike `await`, does not cancel the future with this task
    finally:
        await program.stop()
        if on_left is not None and (left := program.left_running()) is not None:
            on_left(left)
    if program.too_much:
        raise ExecutionError(f"the program wrote more than {MAX_OUTPUT_BYTES // 1024**2} MB of output")
    return program.result(arguments[0])


async def _start(arguments: Sequence[str], environment: Mapping[str, str], folder: Path | None) -> _Program:
    loop = asyncio.get_running_loop()
    ORPHANS.start_watcher()
    lifeline, theirs = socket.socketpair()
    mark = token_hex(16)
    kept = (
        standard_library_command(SUPERVISOR_START_CODE, *SUPERVISOR_IMPORT_FOLDERS, str(theirs.fileno()))
        if HAS_SUPERVISOR
        else []
    )
    try:
        _, program = await loop.subprocess_exec(
            lambda: _Program(loop, lifeline, mark),
            *kept,
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env={**environment, MARK_VARIABLE: mark},
            cwd=folder,
            pass_fds=(theirs.fileno(),) if HAS_SUPERVISOR else (),
            start_new_session=True,
        )
    except OSError as error:
        lifeline.close()
        raise _not_started(arguments[0], error.strerror or str(error)) from None
    finally:
        theirs.close()
    return program


def _not_started(name: str, why: str) -> ExecutionError:
    return ExecutionError(f"cannot start {name!r}: {why}")


class _Program(asyncio.SubprocessProtocol):
    """A running program.

    `done`: set when the program has exited, or need not be awaited any longer. `closed`: set when all output
    was read.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, lifeline: socket.socket, mark: str) -> None:
        self.done: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.too_much = False
        self._exited: asyncio.Future[None] = loop.create_future()
        self._output = bytearray()
        self._errors = bytearray()
        self._lifeline = lifeline
        self._mark = mark
        self._ending: _Ending | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        if not HAS_SUPERVISOR:
            ORPHANS.register(self._transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._errors += data
            del self._errors[:-MAX_STDERR_BYTES]
        elif not self.too_much:
            self._output += data
            if len(self._output) > MAX_OUTPUT_BYTES:
                self.too_much = True
                _resolve(self.done)

    def process_exited(self) -> None:
        status = self._transport.get_returncode()
        assert status is not None
        self._ending = _read_ending(self._lifeline) if HAS_SUPERVISOR else _Ending(status)
        _resolve(self._exited)
        _resolve(self.done)

    def connection_lost(self, exc: Exception | None) -> None:
        _resolve(self.closed)

    def give(self, data: bytes) -> None:
        stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        if not stdin.is_closing():  # it is closing if the program has ended
            stdin.write(data)
            stdin.close()

    async def stop(self) -> None:
        """End the program, and all processes that it started."""
        try:
            if not self._exited.done():
                self._ask_to_end()
                await asyncio.wait(
                    {self._exited}, timeout=SUPERVISOR_TIMEOUT if HAS_SUPERVISOR else KILL_DELAY
                )
        finally:
            self._signal(signal.SIGKILL)
            ORPHANS.unregister(self._transport.get_pid())
            if HAS_SUPERVISOR and self._ending is None:  # somebody killed the supervisor, or it hangs
                count = await asyncio.shield(asyncio.to_thread(kill_marked_processes, self._mark))
                self._ending = _Ending(left=count, names=["whatever had its mark"] if count else [])
            await asyncio.wait({self.closed}, timeout=DRAIN_SECONDS)
            self._transport.close()
            self._lifeline.close()

    def _ask_to_end(self) -> None:
        if HAS_SUPERVISOR:
            self._lifeline.shutdown(socket.SHUT_WR)
        else:
            self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to the program's process group, if the group still exists."""
        try:
            os.killpg(self._transport.get_pid(), number)
        except ProcessLookupError:
            pass

    def result(self, name: str) -> ProgramResult:
        """Return how the program ended, with its output.

        Raises:
            ExecutionError: If the program did not start.
        """
        ending = self._ending or _Ending()
        if ending.trouble:
            raise _not_started(name, ending.trouble)
        return ProgramResult(ending.status, bytes(self._output), self._errors.decode("utf-8", "replace"))

    def left_running(self) -> LeftoverProcesses | None:
        """Return the processes that the program left running. Return None if there were none."""
        ending = self._ending or _Ending()
        return LeftoverProcesses(ending.left, ending.names) if ending.left else None


def _read_ending(lifeline: socket.socket) -> _Ending | None:
    """Return the supervisor's report. Return None if somebody killed the supervisor, and with it the program."""
    lifeline.setblocking(False)
    try:
        return msgspec.json.decode(lifeline.recv(65536), type=_Ending)
    except (OSError, msgspec.MsgspecError):
        return None


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
