"""Turns: work that goes on beside other work, and work that goes on alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turn:
    """One piece of work. `had_others` is True if other work was under way at any moment of it."""

    def __init__(self, had_others: bool) -> None:
        self.had_others = had_others


class Turns:
    """Lets work go on at once, or alone: who waits to be alone goes first when all that has begun is done."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._under_way: set[Turn] = set()
        self._waiting = 0

    @asynccontextmanager
    async def beside_others(self) -> AsyncIterator[Turn]:
        """Wait until nobody works or waits to work alone, then work beside others."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._waiting)
            turn = self._begin()
        try:
            yield turn
        finally:
            await self._end(turn)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Wait until all that has begun is done, then work alone."""
        async with self._changed:
            self._waiting += 1
            try:
                await self._changed.wait_for(lambda: not self._under_way)
            except BaseException:
                self._waiting -= 1
                self._changed.notify_all()
                raise
            turn = self._begin()
        try:
            yield
        finally:
            self._waiting -= 1
            await self._end(turn)

    def _begin(self) -> Turn:
        for other in self._under_way:
            other.had_others = True
        turn = Turn(had_others=bool(self._under_way))
        self._under_way.add(turn)
        return turn

    async def _end(self, turn: Turn) -> None:
        self._under_way.discard(turn)
        async with self._changed:
            self._changed.notify_all()
