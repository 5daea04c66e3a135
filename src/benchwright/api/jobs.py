"""A run from Python: in a thread of its own, on an event loop of its own, wherever it is called from.

So a notebook, whose loop is running, can call the plain functions, timings do not depend on what else the caller's
loop does, and signals stay the caller's.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Generic, TypeVar

from benchwright.api.watching import Watch
from benchwright.app.loop import run_on_own_loop

Result = TypeVar("Result")

Work = Callable[[Watch], Coroutine[Any, Any, Result]]

LOOK = 0.1
"""Seconds between two looks at a run that is waited for."""


def finish(work: Work[Result], *, progress: bool) -> Result:
    """Waits for the work in this thread.

    Raises:
        KeyboardInterrupt: as it comes; the work has been ended then. A second one does not wait for that.
        Exception: whatever the work raises.
    """
    watch = Watch(shown=progress)
    job = _Job(work, watch)
    try:
        while not wait([job.future], LOOK).done:
            watch.show()
    except BaseException:
        job.stop()
        wait([job.future])
        raise
    finally:
        watch.close()
    return job.future.result()


async def finish_async(work: Work[Result], *, progress: bool) -> Result:
    """Waits for the work in a task of the caller's loop, which goes on meanwhile.

    Raises:
        CancelledError: the task was cancelled; the work has been ended then.
        Exception: whatever the work raises.
    """
    watch = Watch(shown=progress)
    job = _Job(work, watch)
    ended = asyncio.wrap_future(job.future)
    try:
        while not (await asyncio.wait([ended], timeout=LOOK))[0]:
            watch.show()
    except BaseException:
        job.stop()
        await asyncio.wait([ended])
        with suppress(BaseException):
            ended.exception()  # asked for, so that asyncio does not complain of it
        raise
    finally:
        watch.close()
    return ended.result()


class _Job(Generic[Result]):
    """Work under way. Its thread is a daemon: what blocks it for good cannot keep the program from ending."""

    def __init__(self, work: Work[Result], watch: Watch) -> None:
        self.future: Future[Result] = Future()
        self.future.set_running_or_notify_cancel()  # from now on it cannot be cancelled, only its work can
        self._work, self._watch = work, watch
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._stopped = False
        run = copy_context().run
        threading.Thread(target=run, args=(self._run,), name="benchwright-run", daemon=True).start()

    def stop(self) -> None:
        """Cancels the work: what is in flight is dropped, what is finished is saved."""
        self._stopped = True
        if self._loop is not None and self._task is not None:
            with suppress(RuntimeError):  # the loop is closed: the work has ended
                self._loop.call_soon_threadsafe(self._task.cancel)

    def _run(self) -> None:
        try:
            self.future.set_result(run_on_own_loop(self._main()))
        except BaseException as error:
            self.future.set_exception(error)

    async def _main(self) -> Result:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._stopped:
            raise asyncio.CancelledError
        return await self._work(self._watch)
