"""The event loop of runs: uvloop if it is installed."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from benchwright.engine.garbage_collection import raise_collection_threshold

CoroutineResult = TypeVar("CoroutineResult")

MAX_CLOSE_SECONDS = 2.0
"""Maximum seconds for tasks that are still running to end, when their event loop is closed."""


def run_async(work: Coroutine[Any, Any, CoroutineResult], in_flight: int = 0) -> CoroutineResult:
    """Run a coroutine to completion on a new event loop, and return its result. Tune the process for runs.

    Call it only in a process that does little else. `in_flight`: number of trials in flight, if it can be
    thousands; the garbage collector is tuned for that number.
    """
    raise_collection_threshold(in_flight)
    return run_on_new_loop(work)


def run_on_new_loop(work: Coroutine[Any, Any, CoroutineResult]) -> CoroutineResult:
    """Run a coroutine to completion on a new event loop, and return its result, without tuning the process."""
    runner = asyncio.Runner(loop_factory=_new_loop)
    try:
        return runner.run(work)
    finally:
        _close(runner.get_loop())


def _new_loop() -> asyncio.AbstractEventLoop:
    loop: asyncio.AbstractEventLoop
    try:
        import uvloop
    except ImportError:
        loop = asyncio.new_event_loop()
    else:
        loop = uvloop.new_event_loop()
    loop.set_exception_handler(_tell)
    return loop


def _tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an exception raised in a callback, except a second Ctrl-C: the first one already ends the work."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the loop's remaining tasks, and close it.

    Tasks that do not end in time, such as one with a blocked thread, are abandoned.
    """
    if left := asyncio.all_tasks(loop):
        for task in left:
            task.cancel()
        ended, _ = loop.run_until_complete(asyncio.wait(left, timeout=MAX_CLOSE_SECONDS))
        for task in ended:
            task.cancelled() or task.exception()
    loop.run_until_complete(loop.shutdown_asyncgens())
    asyncio.set_event_loop(None)
    loop.close()


def exit_despite_threads(code: object) -> None:
    """Let the process exit `MAX_CLOSE_SECONDS` from now, even if some threads never end.

    `code`: the exit code.
    """

    def leave() -> None:
        sys.stdout.flush()
        os._exit(code if isinstance(code, int) else code is not None)

    left = threading.Timer(MAX_CLOSE_SECONDS, leave)
    left.daemon = True
    left.start()
