"""The event loop that runs use: uvloop where it is installed."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from benchwright.engine.garbage import collect_seldom

Result = TypeVar("Result")

CLOSE_SECONDS = 2.0
"""How long tasks that are left over may take to end."""


def run_async(work: Coroutine[Any, Any, Result], in_flight: int = 0) -> Result:
    """Runs a coroutine to its end on a fresh event loop, in a process that has little else to do.

    `in_flight`: how many trials may be, where that can be thousands.
    """
    collect_seldom(in_flight)
    return run_on_own_loop(work)


def run_on_own_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine to its end on a fresh event loop, and changes nothing else of the process."""
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
    """Logs what a callback raised; a second Ctrl-C that hit one is not a fault, and the first ends the work already."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Ends what the loop still does. What does not end, such as a tool that blocks its thread, is left to itself."""
    if left := asyncio.all_tasks(loop):
        for task in left:
            task.cancel()
        ended, _ = loop.run_until_complete(asyncio.wait(left, timeout=CLOSE_SECONDS))
        for task in ended:
            task.cancelled() or task.exception()
    loop.run_until_complete(loop.shutdown_asyncgens())
    asyncio.set_event_loop(None)
    loop.close()


def leave_threads(code: object) -> None:
    """Lets the program, which is at its end, not wait for threads that never end; `code` is that of its exit."""

    def leave() -> None:
        sys.stdout.flush()
        os._exit(code if isinstance(code, int) else code is not None)

    left = threading.Timer(CLOSE_SECONDS, leave)
    left.daemon = True
    left.start()
