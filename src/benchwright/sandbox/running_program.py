"""A sandbox in which a program is running, controlled through its supervisor."""

from __future__ import annotations

import ast
import asyncio
import marshal
import os
import signal
import time
from asyncio.subprocess import Process
from typing import Any

from benchwright.errors import ExecutionError

START_SECONDS = 30.0
"""Time limit for the start of the sandbox itself, on a machine under load."""
GRACE_SECONDS = 5.0
"""Seconds after the end of the program's wall time in which the supervisor must report how the program ended."""
END_TIMEOUT = 5.0
"""Seconds in which the supervisor must end all processes. After that, its process group is killed."""
KILL_WAIT_SECONDS = 1.0
"""Seconds to wait until killed processes have disappeared."""


class RunningProgram:
    """A sandbox in which a program is running."""

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        process: Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._transport = transport
        self.process = process
        self._reader, self._writer = reader, writer

    async def start(self, work: dict[str, Any]) -> None:
        """Send the supervisor its work. Return when the program has started.

        Raises:
            ExecutionError: If the sandbox or the program did not start.
        """
        packed = marshal.dumps(work)
        try:
            async with asyncio.timeout(START_SECONDS):
                self._writer.write(len(packed).to_bytes(8, "big") + packed)
                await self._writer.drain()
                started = await self._reader.readline()
        except (OSError, TimeoutError):
            started = b""
        if not started:
            raise ExecutionError(f"the sandbox did not start: {await self._complaint()}")
        if trouble := _read(started)["trouble"]:
            name = work["argv"][0] if "argv" in work else "the program"
            raise ExecutionError(f"cannot start {name!r} in the sandbox: {trouble}")

    async def _complaint(self) -> str:
        assert self.process.stderr is not None
        self.request_end()
        try:
            async with asyncio.timeout(END_TIMEOUT):
                said = await self.process.stderr.read(64 * 1024)
        except TimeoutError:
            said = b""
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it says nothing"

    async def wait_for_end(self, wall_seconds: float) -> dict[str, Any]:
        """Wait for the program's end, and return the supervisor's report.

        The report has the keys reason, exit_code, signal, seconds, told and passed.
        """
        try:
            async with asyncio.timeout(wall_seconds + GRACE_SECONDS):
                line = await self._reader.readline()
        except (OSError, TimeoutError):
            line = b""
        return _read(line) if line.endswith(b"\n") else {"reason": "lost"}

    def request_end(self) -> None:
        """Ask the supervisor to end the program and all processes that it started. Do not wait for their end."""
        self._writer.close()

    async def stop(self) -> None:
        """End all processes. Return when they have ended."""
        self.request_end()
        for pipe in map(self._transport.get_pipe_transport, range(3)):
            if pipe is not None:
                pipe.close()
        try:
            await asyncio.wait_for(self.process.wait(), END_TIMEOUT)
        except TimeoutError:
            pass
        finally:
            group_is_there = self._kill()
        await self.process.wait()
        self._transport.close()
        deadline = time.monotonic() + KILL_WAIT_SECONDS
        while group_is_there and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
            group_is_there = self._kill()

    def _kill(self) -> bool:
        """Kill the remaining processes of the process group. Return False if none was left."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True


def _read(line: bytes) -> dict[str, Any]:
    return dict(ast.literal_eval(line.decode("ascii")))
