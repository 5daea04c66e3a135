"""The driver of one shard (a process that runs trials): keeps the shard busy, and replaces it if it is lost."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress

import msgspec

from benchwright.engine.shards.messages import (
    FinalReport,
    RunTrials,
    Shard,
    ShardFailed,
    ShardLost,
    ShardReport,
    Shards,
    Shutdown,
    TrialScored,
    TrialSolved,
    WorkerReady,
    decode_reports,
    encode_message,
)
from benchwright.engine.shards.messages import StopWork as StopOrder
from benchwright.engine.shards.work_pool import WorkPool
from benchwright.engine.stop_rules import StopRequest
from benchwright.engine.worker import DeliverResult, ScoredWork, TrialWork, WorkResult
from benchwright.engine.worker import SolvedWork as SolvedHere
from benchwright.errors import UserError
from benchwright.runs.journal import decode_body
from benchwright.runs.process_delays import LoopLag

MAX_SHARD_LOSSES = 3
"""Maximum number of consecutive replacements of a shard, if each replacement is lost before any of its trials
is done.
"""

MAX_CANCEL_SECONDS = 10.0
"""Maximum number of seconds that cancelled trials may take to end."""

CHECK_INTERVAL_SECONDS = 0.25
"""Interval in seconds at which a waiting driver checks whether the run is to stop or all work is done."""


class ShardDriver:
    """Drives one shard with `share` trials in flight.

    `given_up`: the reason why the driver has no shard any more, or None. `origin`: the moment
    (`perf_counter_ns`) from which due times count, or None. `earlier` is shared by all drivers: a mapping from
    the number of a shard to the latest `worker.SolvedWork.earlier` that the shard reported, or to its share if
    it has not reported yet.
    """

    def __init__(
        self,
        shards: Shards,
        number: int,
        share: int,
        deliver: DeliverResult,
        stop: StopRequest,
        earlier: dict[int, int],
    ) -> None:
        self.origin: int | None = None
        self.given_up: str | None = None
        self.lag = LoopLag()
        self.cpu_seconds = 0.0
        self._shards = shards
        self._number = number
        self._share = share
        self._deliver = deliver
        self._stop = stop
        self._earlier = earlier
        self._open = AsyncExitStack()
        self._shard: Shard | None = None
        self._receiving: asyncio.Future[bytes] | None = None
        self._under_way: dict[str, TrialWork] = {}
        self._unscored: dict[str, TrialSolved] = {}
        self._stopped = self._ready = False
        self._losses = 0
        self._lately = 0

    async def start(self, pool: WorkPool) -> None:
        """Start the shard and wait until it is ready to begin.

        If the shard does not start, `run_work` tries again when there is work.
        """
        with suppress(ShardLost):
            shard = await self._opened(pool)
            while shard is not None and not self._ready and self._stop.reason is None:
                await self._took(await self._received(shard), pool)

    async def run_work(self, pool: WorkPool) -> None:
        """Run work from a shared pool until all work is done, or no shard can be started.

        Raises:
            UserError: If a solver or scorer raised an error that ends the run.
        """
        try:
            while self.given_up is None:
                try:
                    shard = await self._opened(pool)
                    if shard is None:
                        return
                    works = self._take(pool)
                    if not self._under_way and not await pool.wait_for_work():
                        return
                    if self._under_way:
                        await self._step(shard, works, pool)
                except ShardLost as lost:
                    await self._lost(lost, pool)
        except asyncio.CancelledError:
            await self._cancel(pool)
            raise

    async def shut_down(self) -> None:
        """Ask the shard to end, and receive its last reports."""
        if self._shard is None:
            return
        try:
            async with asyncio.timeout(MAX_CANCEL_SECONDS):
                await self._goodbye(None)
        except (ShardLost, TimeoutError):
            pass  # all its trials are done; only its loop lag remains unknown

    async def close(self) -> None:
        """Close the shard, unless it has ended by itself."""
        self._shard = None
        if self._receiving is not None:
            self._receiving.cancel()
            await asyncio.wait([self._receiving])
            self._receiving = None
        await self._open.aclose()

    async def _opened(self, pool: WorkPool) -> Shard | None:
        """Return the shard, and start it if necessary.

        Return None if all work was finished before the shard could start.
        """
        if self._shard is None:
            self._stopped = False
            opening = asyncio.ensure_future(
                self._open.enter_async_context(self._shards.open(self._number, self._share))
            )
            try:
                while not opening.done() and not pool.is_over:
                    await asyncio.wait([opening], timeout=CHECK_INTERVAL_SECONDS)
            finally:
                if not opening.done():
                    opening.cancel()
                    await asyncio.wait([opening])
            self._shard = None if opening.cancelled() else opening.result()
        return self._shard

    def _take(self, pool: WorkPool) -> list[TrialWork]:
        """Take one piece of work for each free slot.

        If the shard has many slots, take a few more pieces to queue there. As many pieces are queued as were
        done since the last reports. So a shard with short trials stays busy until its next reports, and a shard
        with long trials keeps no work from the other shards. With few slots nothing is queued.
        """
        ahead = max(self._share // 8, min(self._lately, self._share)) if self._share >= 8 else 0
        works = pool.take_work(max(0, self._share + ahead - len(self._under_way)))
        self._under_way |= {work.trial.key: work for work in works}
        return works

    async def _step(self, shard: Shard, works: list[TrialWork], pool: WorkPool) -> None:
        if works:
            await shard.send(encode_message(RunTrials(works, self.origin)))
        if self._stop.reason is not None and not self._stopped:
            self._stopped = True
            await shard.send(encode_message(StopOrder(hurry=self._stop.is_interrupted)))
        await self._took(await self._received(shard), pool)

    async def _received(self, shard: Shard) -> list[ShardReport]:
        """Return the next reports. Empty if no reports come for a while. Cancelling this call loses no report."""
        if self._receiving is None:
            self._receiving = asyncio.ensure_future(shard.receive())
        await asyncio.wait([self._receiving], timeout=CHECK_INTERVAL_SECONDS)
        if not self._receiving.done():
            return []
        received, self._receiving = self._receiving, None
        return decode_reports(received.result())

    async def _took(self, reports: list[ShardReport], pool: WorkPool | None) -> None:
        """Deliver the results in a shard's reports, and wait until all of them are in the journal."""
        self._lately = sum(isinstance(report, TrialScored) for report in reports)
        journalled = [self._deliver(result) for report in reports if (result := self._result(report, pool))]
        for one in journalled:
            await one

    def _result(self, report: ShardReport, pool: WorkPool | None) -> WorkResult | None:
        if isinstance(report, WorkerReady):
            self._ready = True
            return None
        if isinstance(report, TrialSolved):
            return self._solved(report)
        if isinstance(report, ShardFailed):
            raise UserError(report.reason)
        if isinstance(report, FinalReport):
            self.lag, self._shard = report.lag, None
            self.cpu_seconds += report.cpu_seconds
        elif isinstance(report, TrialScored):
            return self._done(report, pool)
        elif pool is not None:
            pool.return_work([self._under_way.pop(key) for key in report.keys])
        return None

    def _done(self, report: TrialScored, pool: WorkPool | None) -> WorkResult | None:
        if pool is None:
            return None
        work = self._under_way.pop(report.key)
        self._unscored.pop(report.key, None)
        self._losses = 0
        pool.mark_done()
        return ScoredWork(work.trial, report.status, report.scores, work.counted)

    def _solved(self, report: TrialSolved) -> WorkResult:
        self._unscored[report.record.key] = report
        self._earlier[self._number] = report.earlier
        return SolvedHere(report.record, report.body, report.systemic, sum(self._earlier.values()))

    def _left(self, key: str, work: TrialWork) -> TrialWork:
        """Return the remaining work for a trial of a lost shard.

        If the outcome of the trial is stored, the remaining work is only to score it. Otherwise, the trial is
        solved and scored anew.
        """
        report = self._unscored.get(key)
        if report is None:
            return work
        if not report.body:
            trial = msgspec.structs.replace(work.trial, attempt=work.trial.attempt + 1)
            return msgspec.structs.replace(work, trial=trial)
        return msgspec.structs.replace(work, outcome=decode_body(report.body, report.record).outcome)

    async def _lost(self, lost: ShardLost, pool: WorkPool) -> None:
        self._losses += 1
        if lost.for_good or self._losses > MAX_SHARD_LOSSES:
            self.given_up = str(lost)
        await self.close()
        pool.return_work([self._left(key, work) for key, work in self._under_way.items()])
        self._under_way.clear()
        self._unscored.clear()

    async def _cancel(self, pool: WorkPool) -> None:
        """Cancel the trials in flight, and journal them as cancelled."""
        if self._shard is None:
            return
        try:
            async with asyncio.timeout(MAX_CANCEL_SECONDS):
                await self._shard.send(encode_message(StopOrder(cancel=True)))
                await self._goodbye(pool)
        except (ShardLost, TimeoutError):
            pass

    async def _goodbye(self, pool: WorkPool | None) -> None:
        """Receive the remaining reports of the shard, up to its last message."""
        assert self._shard is not None
        await self._shard.send(encode_message(Shutdown()))
        while self._shard is not None:
            await self._took(await self._received(self._shard), pool)
