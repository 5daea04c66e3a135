"""Work that takes long, in processes of its own, so that the event loop is never held up.

The processes run `benchwright.engine.offload_worker`, spoken to over pipes: unlike those of
`multiprocessing` they do not import the user's main module once more.
"""

from __future__ import annotations

import asyncio
import os
import pickle
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from benchwright.engine.offload_worker import HEADER
from benchwright.errors import GraderError
from benchwright.orphans import ORPHANS
from benchwright.own_processes import module_command

T = TypeVar("T")


async def offload(function: Callable[..., T], *args: Any, seconds: float | None = None) -> T:
    """Calls a function of a module in another process; what it raises is raised here.

    The processes are started when they are needed, one per processor but one, and end with the run; see
    `offloading`. One that takes longer than `seconds` is ended, whatever it is doing.

    Raises:
        GraderError: the process was ended from outside, for example for want of memory.
        TimeoutError: it took longer than `seconds`; waiting for a process is not counted.
        MemoryError: it needed more than a process may have, see `offload_worker.MOST_MEMORY`.
    """
    pool = _POOLS.setdefault(asyncio.get_running_loop(), _Pool())
    async with pool.worker() as worker:
        async with asyncio.timeout(seconds):
            succeeded, value = await worker.call(pickle.dumps((function, args), pickle.HIGHEST_PROTOCOL))
    if not succeeded:
        raise value
    result: T = value
    return result


@asynccontextmanager
async def offloading() -> AsyncIterator[None]:
    """Ends the processes of this event loop when the last of its runs ends."""
    loop = asyncio.get_running_loop()
    pool = _POOLS.setdefault(loop, _Pool())
    pool.runs += 1
    try:
        yield
    finally:
        pool.runs -= 1
        if not pool.runs:
            _POOLS.pop(loop, None)
            await pool.close()


class _Worker:
    """One process, asked one thing after another."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def call(self, request: bytes) -> tuple[bool, Any]:
        """(whether the call succeeded, what it returned or raised)."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(len(request).to_bytes(HEADER, "big") + request)
            await process.stdin.drain()
            size = int.from_bytes(await process.stdout.readexactly(HEADER), "big")
            answer: tuple[bool, Any] = pickle.loads(await process.stdout.readexactly(size))
        except (asyncio.IncompleteReadError, OSError):
            raise GraderError("a grading process was ended from outside (out of memory?)") from None
        return answer

    async def close(self) -> None:
        """Ends the process."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.communicate()
        ORPHANS.forget(self._process.pid)


class _Pool:
    """The processes of one event loop."""

    def __init__(self) -> None:
        self.runs = 0
        self._slots = asyncio.Semaphore(max(1, min(4, (os.cpu_count() or 2) - 1)))
        self._idle: list[_Worker] = []

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[_Worker]:
        """A process that nobody else uses meanwhile; one that was left in the middle of a call is ended."""
        async with self._slots:
            worker = self._idle.pop() if self._idle else await _start()
            try:
                yield worker
            except BaseException:
                await worker.close()
                raise
            self._idle.append(worker)

    async def close(self) -> None:
        """Ends all processes."""
        while self._idle:
            await self._idle.pop().close()


async def _start() -> _Worker:
    command = module_command("benchwright.engine.offload_worker")
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=2**20)
    ORPHANS.expect(process.pid)
    return _Worker(process)


_POOLS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool] = WeakKeyDictionary()
