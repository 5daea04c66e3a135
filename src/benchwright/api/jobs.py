"""Executes a run from Python, in a thread with an event loop of its own.

Plain function calls therefore work in a notebook, whose event loop is running. Timings do not depend on the
caller's loop, and signals are left to the caller.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Generic, TypeVar

from benchwright.api.run_progress import ProgressPrinter
from benchwright.app.event_loop import run_on_new_loop

JobResult = TypeVar("JobResult")

JobFunction = Callable[[ProgressPrinter], Coroutine[Any, Any, JobResult]]

POLL_SECONDS = 0.1
"""Seconds between two checks whether a run in progress has ended."""


def run_job(work: JobFunction[JobResult], *, progress: bool) -> JobResult:
    """Wait until the work has ended. Return its result. The work runs in a thread of its own.

    If Ctrl-C is pressed, the work is told to stop. A second Ctrl-C does not wait for its end.

    Raises:
        KeyboardInterrupt: If Ctrl-C was pressed.
        Exception: If the work raises it.
    """
    watch = ProgressPrinter(shown=progress)
    job = _Job(work, watch)
    try:
        while not wait([job.future], POLL_SECONDS).done:
            watch.print_progress()
    except BaseException:
        job.stop()
        wait([job.future])
        raise
    finally:
        watch.close()
    return job.future.result()


async def run_job_async(work: JobFunction[JobResult], *, progress: bool) -> JobResult:
    """Wait until the work has ended, without blocking the caller's event loop. Return its result.

    The work runs in a thread of its own.

    Raises:
        CancelledError: If the task is cancelled, after the work has ended.
        Exception: If the work raises it.
    """
    watch = ProgressPrinter(shown=progress)
    job = _Job(work, watch)
    ended = asyncio.wrap_future(job.future)
    try:
        while not (await asyncio.wait([ended], timeout=POLL_SECONDS))[0]:
            watch.print_progress()
    except BaseException:
        job.stop()
        await asyncio.wait([ended])
        with suppress(BaseException):
            ended.exception()  # retrieved, so that asyncio does not warn about it
        raise
    finally:
        watch.close()
    return ended.result()


class _Job(Generic[JobResult]):
    """Work in progress. Its thread is a daemon, so that blocked work cannot keep the program from exiting."""

    def __init__(self, work: JobFunction[JobResult], watch: ProgressPrinter) -> None:
        self.future: Future[JobResult] = Future()
        self.future.set_running_or_notify_cancel()  # the future can no longer be cancelled, only its work
        self._work, self._watch = work, watch
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._stopped = False
        run = copy_context().run
        threading.Thread(target=run, args=(self._run,), name="benchwright-run", daemon=True).start()

    def stop(self) -> None:
        """Cancel the work. Trials in flight are dropped. Finished trials are already saved."""
        self._stopped = True
        if self._loop is not None and self._task is not None:
            with suppress(RuntimeError):  # the loop is closed: the work has ended
                self._loop.call_soon_threadsafe(self._task.cancel)

    def _run(self) -> None:
        try:
            self.future.set_result(run_on_new_loop(self._main()))
        except BaseException as error:
            self.future.set_exception(error)

    async def _main(self) -> JobResult:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._stopped:
            raise asyncio.CancelledError
        return await self._work(self._watch)
