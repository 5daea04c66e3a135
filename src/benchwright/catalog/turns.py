"""Turns: work that goes on beside other work, and work that goes on alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Lets work go on at once, or alone: who waits to be alone goes first when all that has begun is done."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._under_way = 0
        self._waiting = 0

    @asynccontextmanager
    async def beside_others(self) -> AsyncIterator[None]:
        """Wait until nobody works or waits to work alone, then work beside others."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._waiting)
            self._under_way += 1
        try:
            yield
        finally:
            await self._end()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Wait until all that has begun is done, then work alone."""
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
