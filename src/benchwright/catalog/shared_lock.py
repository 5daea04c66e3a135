"""A lock with two modes: shared (other work may run at the same time) and exclusive (no other work may run)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class SharedLock:
    """A lock that lets work run either at the same time as other work, or while no other work runs.

    Exclusive work has priority: once it waits, no shared work starts until the exclusive work is done.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._under_way = 0
        self._waiting = 0

    @asynccontextmanager
    async def hold_shared(self) -> AsyncIterator[None]:
        """Wait until no exclusive work runs or waits, then run at the same time as other shared work."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._waiting)
            self._under_way += 1
        try:
            yield
        finally:
            await self._end()

    @asynccontextmanager
    async def hold_exclusively(self) -> AsyncIterator[None]:
        """Wait until all work in progress is done, then run while no other work runs."""
        self._waiting += 1
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: not self._under_way)
                self._under_way += 1
            try:
                yield
            finally:
                await self._end()
        finally:
            self._waiting -= 1
            async with self._changed:
                self._changed.notify_all()

    async def _end(self) -> None:
        self._under_way -= 1
        async with self._changed:
            self._changed.notify_all()
