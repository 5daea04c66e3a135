"""A lock with two modes: work beside other work (shared), and work alone (exclusive)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Lets work run at the same time, or alone.

    Whoever waits to run alone goes first once the work under way is done.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._under_way = 0
        self._waiting = 0

    @asynccontextmanager
    async def beside_others(self) -> AsyncIterator[None]:
        """Wait until nobody runs or waits to run alone, then run beside others."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._waiting)
            self._under_way += 1
        try:
            yield
        finally:
            await self._end()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Wait until all work under way is done, then run alone."""
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
