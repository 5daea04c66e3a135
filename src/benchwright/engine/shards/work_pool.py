"""The work of a wave, shared by all shards. Each shard takes some work, and returns what it could not do."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from itertools import cycle, islice
from time import perf_counter_ns
from typing import TypeVar

from benchwright.engine.stop_rules import StopRequest
from benchwright.engine.worker import TrialWork

WorkItem = TypeVar("WorkItem")


def distribute_work(source: Iterator[WorkItem], hands: int) -> list[Iterator[WorkItem]]:
    """Distribute the pieces of a source in turn over `hands` iterators, one for each receiver.

    The pieces are drawn as they are needed.
    """
    dealt = [deque[WorkItem]() for _ in range(hands)]
    turns = cycle(dealt)

    def hand(own: deque[WorkItem]) -> Iterator[WorkItem]:
        while True:
            while not own:
                work = next(source, None)
                if work is None:
                    return
                next(turns).append(work)
            yield own.popleft()

    return [hand(own) for own in dealt]


class WorkPool:
    """Work that is drawn from an iterator as needed, and work that shards gave back.

    From the moment `last_start` (`perf_counter_ns`) on, no more work is handed out; see `Plan.seconds`.
    """

    def __init__(self, source: Iterator[TrialWork], stop: StopRequest, last_start: int | None = None) -> None:
        self._source = source
        self._stop = stop
        self._last_start = last_start
        self._back: deque[TrialWork] = deque()
        self._taken = 0
        self._drained = False
        self._changed = asyncio.Event()

    def take_work(self, most: int) -> list[TrialWork]:
        """Take up to `most` pieces of work.

        Return an empty list if no work is left at the moment, or if the run is to stop.
        """
        if self._stop.reason is not None or self._is_too_late:
            self._back.clear()
            self._drained = True
            return []
        works = [self._back.popleft() for _ in range(min(most, len(self._back)))]
        works += islice(self._source, most - len(works))
        self._drained = self._drained or len(works) < most
        self._taken += len(works)
        return works

    def mark_done(self, works: int = 1) -> None:
        """Count this many of the taken pieces as done or dropped, so that the pool no longer waits for them."""
        self._taken -= works
        self._tell()

    def return_work(self, works: list[TrialWork]) -> None:
        """Put back pieces that were taken but could not be done, so that other shards can take them."""
        self._back.extend(works)
        self.mark_done(len(works))

    @property
    def is_over(self) -> bool:
        """True if no more work is to be taken, because all work is done or the run is to stop."""
        return self._stop.reason is not None or (self._drained and not self._taken and not self._back)

    async def wait_for_work(self) -> bool:
        """Wait until there may be work to take. Return False if all work is done or the run is to stop."""
        while self._taken and not self._back:
            self._changed.clear()
            await self._changed.wait()
        return bool(self._back) and self._stop.reason is None

    @property
    def _is_too_late(self) -> bool:
        return self._last_start is not None and perf_counter_ns() >= self._last_start

    def _tell(self) -> None:
        self._changed.set()
