"""Runs long computations in separate processes, so that they never block the event loop.

The processes run `benchwright.engine.offload_worker` and communicate over pipes. Unlike processes of
`multiprocessing`, they do not import the user's main module again.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from benchwright.engine.offload_worker import ENDED, ERROR, HEADER_BYTES
from benchwright.errors import GraderError
from benchwright.orphans import ORPHANS
from benchwright.python_commands import module_command

CallResult = TypeVar("CallResult")
PrepareCall = Callable[[], object]

MAX_WALL_TO_CPU_RATIO = 30.0
"""Maximum wall-clock time of a call, as a multiple of the CPU time allowed to it.

It is generous because the machine may be busy, and the call may wait.
"""

MAX_SHUTDOWN_SECONDS = 2.0
"""Number of seconds that an offload process gets to end its child and itself before it is killed."""


async def offload(
    function: Callable[..., CallResult],
    *args: Any,
    seconds: float | None = None,
    prepare: PrepareCall | None = None,
) -> CallResult:
    """Call a function of a module in another process. Return its result, or raise its exception.

    The processes are started when they are needed: as many as there are processors but one, at most four. They
    end with the run; see `offload_processes`. `prepare` is called in each process before the first function, to
    import the function's dependencies; this time does not count towards `seconds`. `seconds` is the CPU time
    that a call may use. A call that exceeds its time or the memory limit is repeated once, with no other call
    in progress.

    Raises:
        GraderError: If the process was killed from outside, or gave no answer for much longer than `seconds`.
        TimeoutError: If both attempts needed more than `seconds` of CPU time.
        MemoryError: If both attempts needed more memory than a process may use, see
            `offload_worker.MAX_MEMORY_BYTES`.
    """
    pool = _POOLS.setdefault(asyncio.get_running_loop(), _Pool())
    request = pickle.dumps((function, args, seconds), pickle.HIGHEST_PROTOCOL)
    try:
        async with pool.worker(prepare) as worker:
            value: CallResult = await worker.call(request, seconds)
    except (TimeoutError, MemoryError):
        async with pool.alone(prepare) as worker:
            value = await worker.call(request, seconds)
    return value


@asynccontextmanager
async def offload_processes() -> AsyncIterator[None]:
    """End the offload processes of this event loop when the last run on it ends."""
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
    """An offload process, which handles one call at a time."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.usable = True
        """False if the process is in the middle of a call, or has ended."""

    async def call(self, request: bytes, seconds: float | None) -> Any:
        """Send a request, which names a function, to the process.

        Return the function's result, or raise its exception.

        Raises:
            GraderError: If the process was killed from outside, or does not answer.
            TimeoutError: If the function needed more CPU time than allowed.
        """
        patience = None if seconds is None else MAX_WALL_TO_CPU_RATIO * seconds
        self.usable = False
        try:
            async with asyncio.timeout(patience):
                kind, value = await self._answer(request)
        except TimeoutError:
            raise GraderError(f"a grading process gave no answer in {patience:g} s") from None
        self.usable = True
        if kind == ERROR:
            raise value
        if kind == ENDED and value == signal.SIGPROF:
            raise TimeoutError(f"more than {seconds:g} s of CPU time")
        if kind == ENDED:
            raise GraderError("a grading process was ended from outside (out of memory?)")
        return value

    async def _answer(self, request: bytes) -> tuple[str, Any]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(len(request).to_bytes(HEADER_BYTES, "big") + request)
            await process.stdin.drain()
            size = int.from_bytes(await process.stdout.readexactly(HEADER_BYTES), "big")
            answer: tuple[str, Any] = pickle.loads(await process.stdout.readexactly(size))
        except (asyncio.IncompleteReadError, OSError):
            raise GraderError("a grading process was ended from outside (out of memory?)") from None
        return answer

    async def close(self) -> None:
        """End the process and its child."""
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(MAX_SHUTDOWN_SECONDS):
                await self._process.communicate()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.communicate()
        ORPHANS.unregister(self._process.pid)


class _Pool:
    """The offload processes of one event loop.

    Idle processes are grouped by the `prepare` function that has run in them.
    """

    def __init__(self) -> None:
        self.runs = 0
        self._count = max(1, min(4, (os.cpu_count() or 2) - 1))
        self._slots = asyncio.Semaphore(self._count)
        self._loners = asyncio.Lock()
        self._idle: dict[PrepareCall | None, list[_Worker]] = {}

    @asynccontextmanager
    async def worker(self, prepare: PrepareCall | None) -> AsyncIterator[_Worker]:
        """Lend an idle offload process exclusively.

        If the context is left in the middle of a call, end the process.
        """
        async with self._slots, self._lent(prepare) as worker:
            yield worker

    @asynccontextmanager
    async def alone(self, prepare: PrepareCall | None) -> AsyncIterator[_Worker]:
        """Lend an offload process exclusively, while no other process of the pool works."""
        async with self._loners, AsyncExitStack() as stack:
            for _ in range(self._count):
                await stack.enter_async_context(self._slots)
            yield await stack.enter_async_context(self._lent(prepare))

    @asynccontextmanager
    async def _lent(self, prepare: PrepareCall | None) -> AsyncIterator[_Worker]:
        idle = self._idle.setdefault(prepare, [])
        worker = idle.pop() if idle else await _start(prepare)
        try:
            yield worker
        finally:
            if worker.usable:
                idle.append(worker)
            else:
                await worker.close()

    async def close(self) -> None:
        """End all processes."""
        await asyncio.gather(*(worker.close() for idle in self._idle.values() for worker in idle))
        self._idle.clear()


async def _start(prepare: PrepareCall | None) -> _Worker:
    """Start a process and let it call `prepare`.

    Raises:
        GraderError: If the process ended before it was ready.
        Exception: If `prepare` raises one.
    """
    command = module_command("benchwright.engine.offload_worker")
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, limit=2**20, start_new_session=True
    )
    ORPHANS.register(process.pid)
    worker = _Worker(process)
    try:
        await worker.call(pickle.dumps((prepare, (), None), pickle.HIGHEST_PROTOCOL), None)
    except BaseException:
        await worker.close()
        raise
    return worker


_POOLS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool] = WeakKeyDictionary()
