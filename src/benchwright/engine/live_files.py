"""Files that are kept up to date during a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

from benchwright.errors import JournalError

WRITE_INTERVAL_SECONDS = 3.0
MAX_WRITE_TIME_SHARE = 0.02
"""`WRITE_INTERVAL_SECONDS`: seconds between two writes of the files that are kept up to date during a run.

`MAX_WRITE_TIME_SHARE`: largest share of the run's time that may be spent on writing these files. If writing
every `WRITE_INTERVAL_SECONDS` would exceed this share, the files are written less often.
"""


@asynccontextmanager
async def writing_periodically(write: Callable[[], None]) -> AsyncIterator[None]:
    """Call `write` periodically in a thread while the context is open. On exit, wait for a call in progress.

    After a JournalError, `write` is not called any more. The error is not lost: the files are written once
    more when the session ends, and an error of that write is reported.
    """
    left = asyncio.Event()
    writing = asyncio.create_task(_keep_writing(write, left))
    try:
        yield
    finally:
        left.set()
        await writing


async def _keep_writing(write: Callable[[], None], left: asyncio.Event) -> None:
    pause = WRITE_INTERVAL_SECONDS
    while not await _comes_within(left, pause):
        begun = monotonic()
        try:
            await asyncio.to_thread(write)
        except JournalError:
            return
        pause = max(WRITE_INTERVAL_SECONDS, (monotonic() - begun) / MAX_WRITE_TIME_SHARE)


async def _comes_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
