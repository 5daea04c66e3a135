"""Files that are kept up to date during a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

from benchwright.errors import JournalError

EVERY_SECONDS = 3.0
LARGEST_SHARE = 0.02
"""Largest share of the time that may be spent on writing.

If writing every `EVERY_SECONDS` would exceed it, files are written less often.
"""


@asynccontextmanager
async def kept_up_to_date(write: Callable[[], None]) -> AsyncIterator[None]:
    """Call `write` periodically in a thread while the context is open. On exit, wait for a call in progress.

    After a JournalError, `write` is not called any more. When the session ends, the files are written as a
    whole anyway, or the error is reported.
    """
    left = asyncio.Event()
    writing = asyncio.create_task(_keep_writing(write, left))
    try:
        yield
    finally:
        left.set()
        await writing


async def _keep_writing(write: Callable[[], None], left: asyncio.Event) -> None:
    pause = EVERY_SECONDS
    while not await _comes_within(left, pause):
        begun = monotonic()
        try:
            await asyncio.to_thread(write)
        except JournalError:
            return
        pause = max(EVERY_SECONDS, (monotonic() - begun) / LARGEST_SHARE)


async def _comes_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
