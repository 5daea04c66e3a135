"""A sandbox with a program running in it, spoken to by way of its supervisor."""

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
"""How long the sandbox itself may take to start, on a machine under load."""
GRACE_SECONDS = 5.0
"""How much longer than the program's wall time the supervisor may take to say how it ended."""
PATIENCE = 5.0
"""Seconds that the supervisor gets to end everything, before it is killed with its process group."""
DYING_SECONDS = 1.0
"""How long to wait for killed processes to be gone."""


class RunningProgram:
    """A sandbox with a program running in it."""

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

    async def begin(self, work: dict[str, Any]) -> None:
        """Sends the work; returns when the program has started.

        Raises:
            ExecutionError: the sandbox or the program did not start.
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
        self.end()
        try:
            async with asyncio.timeout(PATIENCE):
                said = await self.process.stderr.read(64 * 1024)
        except TimeoutError:
            said = b""
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it says nothing"

    async def ending(self, wall_seconds: float) -> dict[str, Any]:
        """What the supervisor says of the end: reason, exit_code, signal, seconds, told, passed."""
        try:
            async with asyncio.timeout(wall_seconds + GRACE_SECONDS):
                line = await self._reader.readline()
        except (OSError, TimeoutError):
            line = b""
        return _read(line) if line.endswith(b"\n") else {"reason": "lost"}

    def end(self) -> None:
        """Lets the supervisor end the program and all it started; returns at once."""
        self._writer.close()

    async def stop(self) -> None:
        """Ends everything, and returns when it has ended."""
        self.end()
        for pipe in map(self._transport.get_pipe_transport, range(3)):
            if pipe is not None:
                pipe.close()
        try:
            await asyncio.wait_for(self.process.wait(), PATIENCE)
        except TimeoutError:
            pass
        finally:
            group_is_there = self._kill()
        await self.process.wait()
        self._transport.close()
        deadline = time.monotonic() + DYING_SECONDS
        while group_is_there and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
            group_is_there = self._kill()

    def _kill(self) -> bool:
        """Kills what is left of the process group; returns whether anything was."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True


def _read(line: bytes) -> dict[str, Any]:
    return dict(ast.literal_eval(line.decode("ascii")))
