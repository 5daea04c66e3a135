"""The process of a pack, as the host holds it: two pipes for the channel, its output line by line, its end."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, cast

from benchwright.errors import ExecutionError
from benchwright.own_processes import bare_command
from benchwright.packs.bridge.limits import BridgeLimits
from benchwright.packs.bridge.output import OutputLines
from benchwright.sandbox import layout

START = "import sys; sys.path[:0] = sys.argv[1:3]; import keeper; keeper.start()"
FOLDERS = (str(Path(__file__).parent), str(layout.INSIDE.parent))

PATIENCE = 3.0
"""Seconds that the keeper gets to end everything, before it is killed with its process group."""
DRAIN = 1.0
"""Seconds to wait for output that something which got away may keep open for good."""
PIPE_BYTES = 2**20


class Child(asyncio.SubprocessProtocol):
    """A pack's process under its keeper. `gone` is done when it has ended and all it wrote was received."""

    def __init__(
        self, received: Callable[[bytes], None], line: Callable[[str, str], None], limits: BridgeLimits
    ) -> None:
        loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = loop.create_future()
        self.ending = "signal 9"
        self.last_error = ""
        self._received = received
        self._loop = loop
        self._output = OutputLines(line, limits.output_bytes)
        self._open = {1, 2, "channel"}
        self._exited = False
        self._lifeline: socket.socket | None = None
        self._writer: asyncio.WriteTransport | None = None
        self._reader: asyncio.ReadTransport | None = None
        self._transport: asyncio.SubprocessTransport | None = None

    async def start(
        self, command: Callable[[int, int], Sequence[str]], environment: Mapping[str, str], folder: Path,
        memory_bytes: int,
    ) -> None:  # fmt: skip
        """Starts `command(read, write)`, given the numbers of its two descriptors.

        Raises:
            ExecutionError: it cannot be started.
        """
        self._lifeline, theirs = socket.socketpair()
        self._lifeline.setblocking(False)
        their_read, write = os.pipe()
        read, their_write = os.pipe()
        passed = (theirs.fileno(), their_read, their_write)
        try:
            _enlarge(write, read)
            self._reader, _ = await self._loop.connect_read_pipe(lambda: _Reader(self), _file(read, "rb"))
            self._writer, _ = await self._loop.connect_write_pipe(asyncio.BaseProtocol, _file(write, "wb"))
            kept = f"{their_read},{their_write}"
            await self._loop.subprocess_exec(
                lambda: self,
                *bare_command(START, *FOLDERS, str(theirs.fileno()), kept, str(memory_bytes)),
                *command(their_read, their_write),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                env=dict(environment),
                cwd=folder,
                pass_fds=passed,
                start_new_session=True,
            )
        except OSError as error:
            raise ExecutionError(f"the pack's process cannot be started: {error}") from None
        finally:
            theirs.close()
            os.close(their_read)
            os.close(their_write)

    def send(self, line: bytes) -> None:
        """Sends one line; nothing happens where the process reads no more."""
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(line + b"\n")

    def end(self) -> None:
        """Has the keeper end everything; returns at once."""
        if self._lifeline is not None:
            try:
                self._lifeline.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # the keeper has gone already

    async def stop(self) -> None:
        """Ends everything, and returns when it has ended."""
        self.end()
        try:
            if self._transport is not None:
                await asyncio.wait({self.gone}, timeout=PATIENCE)
        finally:
            self._close()

    def _close(self) -> None:
        if self._transport is not None:
            try:
                os.killpg(self._transport.get_pid(), signal.SIGKILL)
            except ProcessLookupError:
                pass
            self._transport.close()
        if self._reader is not None:
            self._reader.close()
        if self._writer is not None and not self._writer.is_closing():
            self._writer.abort()
        if self._lifeline is not None:
            self._lifeline.close()
        self._finish()

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the transport."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Takes output in."""
        self._output.feed("stdout" if fd == 1 else "stderr", data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Notes that stdout or stderr is over."""
        self.closed(fd)

    def process_exited(self) -> None:
        """Reads from the keeper how the process ended; the rest of its output may still be on its way."""
        self._exited = True
        try:
            assert self._lifeline is not None
            said = self._lifeline.recv(1000).decode("utf-8", "replace")
        except OSError:
            said = ""
        self.ending = said.partition("\n")[0] or self.ending
        self._loop.call_later(DRAIN, self._finish)
        self._finish_when_drained()

    # What the channel's reader calls

    def received(self, data: bytes) -> None:
        """Passes on what came through the channel."""
        self._received(data)

    def closed(self, which: int | str) -> None:
        """Notes that one of the three streams is over."""
        self._open.discard(which)
        self._finish_when_drained()

    def _finish_when_drained(self) -> None:
        if self._exited and not self._open:
            self._finish()

    def _finish(self) -> None:
        if not self.gone.done():
            self._output.flush()
            self.last_error = self._output.last_error
            self.gone.set_result(None)


class _Reader(asyncio.Protocol):
    def __init__(self, child: Child) -> None:
        self._child = child

    def data_received(self, data: bytes) -> None:
        self._child.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._child.closed("channel")


def _file(descriptor: int, mode: str) -> IO[bytes]:
    return open(descriptor, mode, buffering=0)


def _enlarge(*descriptors: int) -> None:
    """A pack waits where its pipe is full: larger ones let it go on while the host does something else."""
    for descriptor in descriptors:
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            pass  # the user's share of pipe memory is used up
