"""The event loop that runs use: uvloop where it is installed."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

YOUNG_OBJECTS = 10_000
"""Objects after which the garbage collector looks for cycles among them; hundreds belong to a trial under way."""


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine to its end on a fresh event loop, in a process that has little else to do.

    What was imported so far is taken out of the garbage collector's sight: looking through it takes tens of
    milliseconds, in which answers arrive unseen.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)
