"""Spreads trials over shards, and takes their results; a shard that is lost costs no finished trial."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import groupby, islice

import msgspec

from benchwright.engine.executor import Spent, together
from benchwright.engine.journal import decode_body
from benchwright.engine.lag import LoopLag
from benchwright.engine.plan import Plan
from benchwright.engine.shards.messages import (
    Do,
    Done,
    End,
    Failed,
    FromShard,
    Goodbye,
    Returned,
    Shard,
    ShardLost,
    Shards,
    Solved,
    decode_reports,
    encode,
)
from benchwright.engine.shards.messages import Stop as StopOrder
from benchwright.engine.stop import Stop
from benchwright.engine.worker import Deliver, Result, Scored, Work
from benchwright.engine.worker import Solved as SolvedHere
from benchwright.errors import UserError

LOSSES = 3
"""How often in a row a shard may be lost before any of its trials is done."""

CANCEL_SECONDS = 10.0
"""How long cancelled trials may take to end."""


class ShardedExecutor:
    """`concurrency` trials in flight in all, shared out evenly; never more shards than that."""

    def __init__(self, shards: Shards, concurrency: int) -> None:
        self._shards = shards
        self._concurrency = concurrency

    async def run(self, plan: Plan, work: Iterator[Work], deliver: Deliver, stop: Stop) -> Spent:
        """See `Executor.run`.

        Raises:
            UserError: a solver or scorer met something that ends the run, or shards are lost again and again.
        """
        count = min(self._shards.count, self._concurrency)
        shares = [(self._concurrency + number) // count for number in range(count)]
        drivers = [_Driver(self._shards, number, share, deliver, stop) for number, share in enumerate(shares)]
        try:
            for _, wave in groupby(work, key=lambda item: item.trial.wave):
                await together([driver.drive(wave) for driver in drivers])  # noqa: B031 - shared on purpose
                if stop.reason is not None:
                    break
            await together([driver.end() for driver in drivers])
        finally:
            for driver in drivers:
                await driver.close()
        return Spent(
            max((driver.lag for driver in drivers), key=lambda lag: lag.p99),
            sum(driver.cpu_seconds for driver in drivers),
        )


class _Driver:
    """Keeps one shard at work, and puts another in its place when it is lost."""

    def __init__(self, shards: Shards, number: int, share: int, deliver: Deliver, stop: Stop) -> None:
        self.lag = LoopLag()
        self.cpu_seconds = 0.0
        self._shards = shards
        self._number = number
        self._share = share
        self._deliver = deliver
        self._stop = stop
        self._open = AsyncExitStack()
        self._shard: Shard | None = None
        self._under_way: dict[str, Work] = {}
        self._again: list[Work] = []
        self._stopped = False
        self._losses = 0

    async def drive(self, source: Iterator[Work]) -> None:
        """Takes work from a source that others take from too, until there is none and all is done."""
        try:
            while True:
                works = self._take(source)
                if not works and not self._under_way:
                    return
                try:
                    await self._step(works)
                except ShardLost as lost:
                    await self._replace(lost)
        except asyncio.CancelledError:
            await self._cancel()
            raise

    async def end(self) -> None:
        """Lets the shard say goodbye."""
        if self._shard is None:
            return
        try:
            await self._shard.send(encode(End()))
            async with asyncio.timeout(CANCEL_SECONDS):
                while self._shard is not None:
                    self._took(decode_reports(await self._shard.receive()))
        except (ShardLost, TimeoutError):
            pass  # all its trials are done; only its loop lag stays unknown

    async def close(self) -> None:
        """Ends the shard, if it has not ended."""
        self._shard = None
        await self._open.aclose()

    def _take(self, source: Iterator[Work]) -> list[Work]:
        """Work for the free places, and a little that waits at the shard for the next ones."""
        if self._stop.reason is not None:
            self._again.clear()
            return []
        room = self._share + 1 + self._share // 8 - len(self._under_way)
        works, self._again = self._again[:room], self._again[room:]
        works += islice(source, room - len(works))
        self._under_way |= {work.trial.key: work for work in works}
        return works

    async def _step(self, works: list[Work]) -> None:
        if self._shard is None:
            self._shard = await self._open.enter_async_context(self._shards.open(self._number, self._share))
        if works:
            await self._shard.send(encode(Do(works)))
        if self._stop.reason is not None and not self._stopped:
            self._stopped = True
            await self._shard.send(encode(StopOrder()))
        self._took(decode_reports(await self._shard.receive()))

    def _took(self, reports: list[FromShard]) -> None:
        for report in reports:
            if isinstance(report, Solved):
                self._deliver(self._solved(report))
            elif isinstance(report, Done):
                self._deliver(self._done(report))
            elif isinstance(report, Returned):
                for key in report.keys:
                    del self._under_way[key]
            elif isinstance(report, Failed):
                raise UserError(report.reason)
            elif isinstance(report, Goodbye):
                self.lag, self.cpu_seconds = report.lag, self.cpu_seconds + report.cpu_seconds
                self._shard = None

    def _solved(self, report: Solved) -> Result:
        """Should the shard be lost from now on, only scoring is left to do."""
        key = report.record.key
        outcome = decode_body(report.body).outcome
        self._under_way[key] = msgspec.structs.replace(self._under_way[key], outcome=outcome)
        return SolvedHere(report.record, report.body, report.systemic)

    def _done(self, report: Done) -> Result:
        work = self._under_way.pop(report.key)
        self._losses = 0
        return Scored(work.trial, report.status, report.scores, work.counted)

    async def _replace(self, lost: ShardLost) -> None:
        self._losses += 1
        if self._losses > LOSSES:
            raise UserError(
                f"A worker process was lost {self._losses} times without a result: {lost}"
            ) from None
        await self.close()
        self._again = [*self._under_way.values(), *self._again]
        self._under_way.clear()
        self._stopped = False

    async def _cancel(self) -> None:
        """Lets what is under way end as cancelled, and journals that."""
        if self._shard is None:
            return
        try:
            async with asyncio.timeout(CANCEL_SECONDS):
                await self._shard.send(encode(StopOrder(cancel=True)))
                while self._under_way:
                    self._took(decode_reports(await self._shard.receive()))
        except (ShardLost, TimeoutError):
            pass
