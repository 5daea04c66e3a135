"""A pack's process as the host sees it: the two pipes of its channel, its output in lines, and its end."""

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
from benchwright.packs.bridge.limits import BridgeLimits
from benchwright.packs.bridge.output import OutputLineSplitter
from benchwright.python_commands import standard_library_command
from benchwright.sandbox import layout
from benchwright.sandbox.supervision import supervision_failure

SUPERVISOR_START_CODE = (
    "import sys; sys.path[:0] = sys.argv[1:3]; import process_supervisor; process_supervisor.start()"
)
SUPERVISOR_IMPORT_FOLDERS = (str(Path(__file__).parent), str(layout.INSIDE_FOLDER.parent))

SUPERVISOR_TIMEOUT = 3.0
"""Seconds in which the supervisor must end all processes. After that, its process group is killed."""
DRAIN_SECONDS = 1.0
"""Seconds to wait for remaining output. An escaped process may keep the pipe open forever."""
PIPE_CAPACITY_BYTES = 2**20


class PackChildProcess(asyncio.SubprocessProtocol):
    """A pack's process. Its supervisor (`process_supervisor.py`) starts it and ends it.

    `gone`: set when the process has ended and all its output was received.
    """

    def __init__(
        self, received: Callable[[bytes], None], line: Callable[[str, str], None], limits: BridgeLimits
    ) -> None:
        loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = loop.create_future()
        self.ending = "signal 9"
        self.last_error = ""
        self._received = received
        self._loop = loop
        self._output = OutputLineSplitter(line, limits.output_bytes)
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
        """Start the command that the function `command` returns for the two descriptors of the process's channel.

        The process reads from the first descriptor and writes to the second.

        Raises:
            ExecutionError: If the process cannot be started, or if programs cannot be supervised on this machine.
        """
        if failure := supervision_failure():
            raise ExecutionError(f"packs cannot run on this machine: {failure}")
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
                *standard_library_command(
                    SUPERVISOR_START_CODE,
                    *SUPERVISOR_IMPORT_FOLDERS,
                    str(theirs.fileno()),
                    kept,
                    str(memory_bytes),
                ),
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
        """Send one line to the pack's process. Do nothing if it has stopped reading."""
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(line + b"\n")

    def request_end(self) -> None:
        """Ask the supervisor to end all processes of the pack. Return at once."""
        if self._lifeline is not None:
            try:
                self._lifeline.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # the supervisor has ended already

    async def stop(self) -> None:
        """End all processes of the pack, and wait until they have ended."""
        self.request_end()
        try:
            if self._transport is not None:
                await asyncio.wait({self.gone}, timeout=SUPERVISOR_TIMEOUT)
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

    # Callbacks of the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport of the process (called by asyncio)."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Pass on output that the pack wrote to stdout or stderr (called by asyncio)."""
        self._output.feed("stdout" if fd == 1 else "stderr", data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Record that stdout or stderr was closed (called by asyncio)."""
        self.stream_closed(fd)

    def process_exited(self) -> None:
        """Read from the supervisor how the process ended (called by asyncio). More output may arrive after that."""
        self._exited = True
        try:
            assert self._lifeline is not None
            said = self._lifeline.recv(1000).decode("utf-8", "replace")
        except OSError:
            said = ""
        self.ending = said.partition("\n")[0] or self.ending
        self._loop.call_later(DRAIN_SECONDS, self._finish)
        self._finish_when_drained()

    # Callbacks of the channel's reader

    def channel_data_received(self, data: bytes) -> None:
        """Pass on data that arrived through the channel."""
        self._received(data)

    def stream_closed(self, which: int | str) -> None:
        """Record that a stream was closed: stdout, stderr or the channel."""
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
    def __init__(self, child: PackChildProcess) -> None:
        self._child = child

    def data_received(self, data: bytes) -> None:
        self._child.channel_data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._child.stream_closed("channel")


def _file(descriptor: int, mode: str) -> IO[bytes]:
    return open(descriptor, mode, buffering=0)


def _enlarge(*descriptors: int) -> None:
    """Enlarge the buffers of pipes, so that a full pipe does not block a pack while the host is busy."""
    for descriptor in descriptors:
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_CAPACITY_BYTES)
        except (AttributeError, OSError):
            pass  # not on this system, or the user's share of pipe memory is used up
