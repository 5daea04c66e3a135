"""The inside of a shard, a process that runs trials. It accepts work, does it, and reports the results."""

from __future__ import annotations

import asyncio
import resource
from collections import deque
from collections.abc import Awaitable, Callable, Collection

from benchwright.endpoint.providers import ModelClient
from benchwright.engine.loop_lag import LoopLagSampler
from benchwright.engine.offload import offload_processes
from benchwright.engine.shards.messages import (
    FinalReport,
    RunTrials,
    ShardFailed,
    ShardLost,
    ShardParts,
    ShardReport,
    Shutdown,
    StopWork,
    TrialScored,
    TrialSolved,
    TrialsReturned,
    WorkerReady,
    decode_order,
    encode_message,
)
from benchwright.engine.worker import SolvedWork as SolvedHere
from benchwright.engine.worker import TrialWork, Worker, WorkResult
from benchwright.errors import UserError

ReceiveOrder = Callable[[], Awaitable[bytes]]
SendReports = Callable[[bytes], Awaitable[None]]


async def serve_shard(parts: ShardParts, concurrency: int, receive: ReceiveOrder, send: SendReports) -> None:
    """Do work, up to `concurrency` trials at once, until the parent ends the shard or is gone."""
    reports = _Reports(send)
    try:
        with LoopLagSampler() as lag:
            async with offload_processes(), parts.task.open() as solver:
                worker = Worker(
                    solver,
                    tuple(parts.task.scorers),
                    parts.clients,
                    parts.limits,
                    reports.deliver,
                    keeps=parts.keep_condition,
                    seconds=parts.max_seconds,
                )
                reports.add(WorkerReady())
                await _WorkQueue(worker, parts.clients.values(), concurrency, reports).work(receive)
        reports.add(FinalReport(lag.loop_lag, _cpu_seconds()))
    except ShardLost:
        return
    except UserError as error:
        reports.add(ShardFailed(str(error)))
    finally:
        for client in parts.clients.values():
            client.close()
    await reports.flush()


class _WorkQueue:
    """The waiting work and the trials in flight."""

    def __init__(
        self, worker: Worker, clients: Collection[ModelClient], concurrency: int, reports: _Reports
    ) -> None:
        self._worker = worker
        self._clients = clients
        self._concurrency = concurrency
        self._reports = reports
        self._waiting: deque[TrialWork] = deque()
        self._under_way: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def work(self, receive: ReceiveOrder) -> None:
        """Follow the parent's orders until the last order.

        Raises:
            ShardLost: If the parent is gone. Trials in flight have been cancelled.
            UserError: If a solver or scorer raised an error that ends the run.
        """
        listening = asyncio.ensure_future(self._listen(receive))
        try:
            await asyncio.wait([listening, self._failure], return_when=asyncio.FIRST_COMPLETED)
            (listening if listening.done() else self._failure).result()
        finally:
            listening.cancel()
            await self._cancel()

    async def _listen(self, receive: ReceiveOrder) -> None:
        while True:
            order = decode_order(await receive())
            if isinstance(order, Shutdown):
                return
            if isinstance(order, RunTrials):
                if order.origin is not None:
                    self._worker.set_origin(order.origin)
                self._waiting.extend(order.works)
                self._begin()
            else:
                await self._stop(order)

    def _give_back(self) -> None:
        """Report all waiting work as not begun."""
        keys = [work.trial.key for work in self._waiting]
        self._waiting.clear()
        self._reports.add(TrialsReturned(keys))

    async def _stop(self, order: StopWork) -> None:
        self._give_back()
        if order.hurry:
            for client in self._clients:
                client.stop_waiting()
        if order.cancel:
            await self._cancel()

    def _begin(self) -> None:
        """Begin the work that is due, as long as there are free slots.

        Set a timer for the next piece of work that is not due yet.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiting and len(self._under_way) < self._concurrency:
            if self._worker.is_too_late(self._waiting[0]):
                self._give_back()
                return
            early = self._worker.seconds_until(self._waiting[0]) - self._worker.lead_seconds
            if early > 0:
                self._timer = asyncio.get_running_loop().call_later(early, self._begin)
                return
            task = asyncio.ensure_future(self._do(self._waiting.popleft()))
            self._under_way.add(task)
            task.add_done_callback(self._ended)

    async def _do(self, work: TrialWork) -> None:
        """Do a piece of work when it is due. The work occupies a slot from the time when it is prepared."""
        if work.trial.due_ns is not None:
            await self._worker.prepare(work)
            await asyncio.sleep(max(0.0, self._worker.seconds_until(work)))
        await self._worker.process_work(work)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._failure.done():
            self._failure.set_exception(error)
        self._begin()

    async def _cancel(self) -> None:
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
        for task in self._under_way:
            task.cancel()
        if self._under_way:
            await asyncio.wait(self._under_way)


REPORT_GATHER_SECONDS = 0.002
"""Seconds during which reports accumulate before they are sent.

A message with many reports costs the parent little more than a message with one.
"""


class _Reports:
    """Sends reports, in batches."""

    def __init__(self, send: SendReports) -> None:
        self._send = send
        self._pending: list[ShardReport] = []
        self._told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._told.set_result(None)
        self._sending: asyncio.Task[None] | None = None

    def deliver(self, result: WorkResult) -> asyncio.Future[None]:
        """Report a worker's result. The parent journals it; the returned future is done already."""
        if isinstance(result, SolvedHere):
            self.add(TrialSolved(result.record, result.body, result.is_systemic, result.earlier_in_flight))
        else:
            self.add(TrialScored(result.trial.key, result.status, result.scores))
        return self._told

    def add(self, report: ShardReport) -> None:
        """Add a report to the next batch to be sent."""
        self._pending.append(report)
        if self._sending is None:
            self._sending = asyncio.ensure_future(self._send_all())

    async def flush(self) -> None:
        """Wait until all reports are sent."""
        if self._sending is not None:
            await asyncio.wait([self._sending])

    async def _send_all(self) -> None:
        try:
            while self._pending:
                await asyncio.sleep(REPORT_GATHER_SECONDS)
                reports, self._pending = self._pending, []
                await self._send(encode_message(reports))
        except ShardLost:
            self._pending.clear()  # the parent is gone
        finally:
            self._sending = None


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
