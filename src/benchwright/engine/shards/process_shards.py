"""Shards that are processes of this machine, with messages over their stdin and stdout."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchwright import clock
from benchwright.engine.shards.messages import Shard, ShardLost, WorkerSpec
from benchwright.orphans import ORPHANS
from benchwright.python_commands import module_command

HEADER_BYTES = 8


def frame_message(message: bytes) -> bytes:
    """Return a message with its length in front."""
    return len(message).to_bytes(HEADER_BYTES, "big") + message


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """Read the next message.

    Raises:
        asyncio.IncompleteReadError: If the stream has ended.
    """
    size = int.from_bytes(await reader.readexactly(HEADER_BYTES), "big")
    return await reader.readexactly(size)


MAX_SHUTDOWN_SECONDS = 5.0
"""Number of seconds that a process gets to end by itself before it is killed."""


class ProcessShards:
    """`count` shards, each a process of this machine that is made from the same `WorkerSpec`."""

    def __init__(self, recipe: WorkerSpec, count: int) -> None:
        self.count = count
        self._recipe = recipe.encode()

    @asynccontextmanager
    async def open(self, number: int, concurrency: int) -> AsyncIterator[Shard]:
        """Start a process in its own session, so that Ctrl-C reaches the parent only; see `Shards.open`."""
        command = module_command(
            "benchwright.engine.shards.process", str(concurrency), str(clock.clock_anchor())
        )
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, start_new_session=True
        )
        shard = _ProcessShard(process)
        with ORPHANS.registered_program(process.pid):
            try:
                await shard.send(self._recipe)
                yield shard
            finally:
                await _ended(process)


class _ProcessShard:
    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout

    async def send(self, message: bytes) -> None:
        if self._stdin.is_closing():
            raise await self._lost()
        try:
            self._stdin.write(frame_message(message))
            await self._stdin.drain()
        except OSError:
            raise await self._lost() from None

    async def receive(self) -> bytes:
        try:
            return await read_frame(self._stdout)
        except (asyncio.IncompleteReadError, OSError):
            raise await self._lost() from None

    async def _lost(self) -> ShardLost:
        try:
            code = await asyncio.wait_for(self._process.wait(), MAX_SHUTDOWN_SECONDS)
        except TimeoutError:
            return ShardLost("it does not answer")
        return ShardLost(f"it was ended by signal {-code}" if code < 0 else f"it ended with exit code {code}")


async def _ended(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), MAX_SHUTDOWN_SECONDS)
    except (TimeoutError, asyncio.CancelledError):
        if process.returncode is None:
            process.kill()
        await process.wait()
