"""The executor of `--concurrency auto`: as many workers as the `ConcurrencyController` allows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from itertools import chain, groupby
from time import perf_counter_ns
from typing import Protocol, runtime_checkable

import msgspec

from benchwright.clock import wall_ns
from benchwright.endpoint.providers import ModelClient
from benchwright.engine.adaptive.concurrency_controller import ConcurrencyController
from benchwright.engine.executor import ExecutionCost, task_group, wait_until_due
from benchwright.engine.loop_lag import reporting_standstills
from benchwright.engine.plan import Plan
from benchwright.engine.stop_rules import StopRequest
from benchwright.engine.worker import DeliverResult, SolvedWork, TrialWork, Worker, WorkResult
from benchwright.records import RequestRecord, TrialRecord
from benchwright.runs.concurrency_history import SETTLING_FLAG
from benchwright.runs.process_delays import Standstill
from benchwright.runs.serial_server import SerialServing

OnLevelChange = Callable[[int, bool, SerialServing | None], None]
"""Callback with three arguments: the new level, whether it is settled, and evidence that the server processes
one request at a time.

The last argument is None if there is no such evidence.
"""


@runtime_checkable
class OverloadReporter(Protocol):
    """A client that reports overload: it calls `on_overload` with the number of the attempt that was refused
    because of overload, or timed out.
    """

    on_overload: Callable[[int], None]


class AdaptiveExecutor:
    """Keeps as many trials in flight as the server can serve well, at most `bound`.

    `paced` is called with each new level. A request gets the flag `SETTLING_FLAG` if it begins before the
    level has settled, or while the level is settling again. `clients`: the clients of the run's targets.
    `asking`: clients that the task itself uses in addition.
    """

    def __init__(
        self,
        clients: Mapping[str, ModelClient],
        bound: int,
        paced: OnLevelChange,
        asking: Iterable[ModelClient] = (),
    ) -> None:
        self._clients = clients
        self._bound = bound
        self._paced = paced
        self._asking = tuple(asking)

    async def run(
        self, plan: Plan, work: Iterator[TrialWork], deliver: DeliverResult, stop: StopRequest
    ) -> ExecutionCost:
        """See `Executor.run`."""
        watch = _ClockedController(
            ConcurrencyController(self._bound, perf_counter_ns()), self._paced, deliver
        )
        for client in chain(self._clients.values(), self._asking):
            if isinstance(client, OverloadReporter):
                client.on_overload = watch.refused
        async with plan.task.open() as solver:
            worker = Worker(
                solver,
                tuple(plan.task.scorers),
                self._clients,
                plan.limits,
                watch.deliver,
                keeps=plan.keep_condition,
                seconds=plan.max_seconds,
            )
            with reporting_standstills(watch.stood_still):
                for _, wave in groupby(work, key=lambda item: item.trial.wave):
                    first = next(wave)
                    wave = chain([first], wave)
                    async with task_group() as group:
                        _Workers(worker, watch, wave, stop, group).fill()
                    if stop.reason is not None or worker.is_too_late(first):
                        break
        return ExecutionCost()


class _ClockedController:
    """Passes events to a `ConcurrencyController`, reports changes of its level, and flags requests sent before
    the level settled.
    """

    def __init__(self, pace: ConcurrencyController, paced: OnLevelChange, deliver: DeliverResult) -> None:
        self.pace = pace
        self._paced = paced
        self._deliver = deliver
        self._told = (pace.level, False)
        self._since = wall_ns()
        self._latencies: dict[int, tuple[int, int]] = {}
        """Mapping from a level to (number of requests that began and ended at this level, their total duration
        in ns).
        """
        self._stood: list[tuple[int, float]] = []
        """Periods (start, end) in which the level was settled, in ns since the epoch."""
        paced(pace.level, False, None)

    def refused(self, attempt: int) -> None:
        self.pace.count_refusal(perf_counter_ns(), again=attempt > 1)
        self.tell()

    def stood_still(self, standstill: Standstill) -> None:
        self.pace.restart_window(perf_counter_ns())

    def ended(self) -> None:
        self.pace.count_end(perf_counter_ns())
        self.tell()

    def tell(self) -> None:
        """Report the level if it has changed."""
        level, settled = self.pace.level, self.pace.is_settled
        if (level, settled) == self._told:
            return
        if settled:
            self._stood.append((wall_ns(), float("inf")))
        elif self._told[1]:
            self._stood[-1] = self._stood[-1][0], wall_ns()
        if level != self._told[0]:
            self._since = wall_ns()
        self._told = level, settled
        self._paced(level, settled, self._one_at_a_time() if settled and level == 1 else None)

    def _one_at_a_time(self) -> SerialServing | None:
        """Return the evidence, from levels 1 and 2, that the server processes one request at a time.

        Return None if there is no such evidence.
        """
        gain, known = self.pace.gain(2), self._latencies
        if gain is None or not {1, 2} <= known.keys():
            return None
        alone, two = (ns / count for count, ns in (known[1], known[2]))
        found = SerialServing(2, gain, two / alone) if alone else None
        return found if found is not None and found.is_serial else None

    def _time(self, record: TrialRecord) -> None:
        """Add the latencies of requests that began and ended at the present level."""
        for request in record.requests:
            if (
                request.role == "model"
                and request.error is None
                and record.started_at + request.started >= self._since
            ):
                count, ns = self._latencies.get(self._told[0], (0, 0))
                self._latencies[self._told[0]] = count + 1, ns + request.total

    def deliver(self, result: WorkResult) -> Awaitable[None]:
        """Deliver a result, with a flag on each request that began while the level was not settled."""
        if isinstance(result, SolvedWork):
            record = result.record
            self._time(record)
            flagged = [self._flagged(request, record.started_at) for request in record.requests]
            if flagged != record.requests:
                result = msgspec.structs.replace(
                    result, record=msgspec.structs.replace(record, requests=flagged)
                )
        return self._deliver(result)

    def _flagged(self, request: RequestRecord, origin: int) -> RequestRecord:
        began = origin + request.started
        if any(start <= began < end for start, end in self._stood):
            return request
        return msgspec.structs.replace(request, flags=[*request.flags, SETTLING_FLAG])


class _Workers:
    """The workers of one wave. A wave is a part of the plan that ends before the next part begins.

    A worker ends if there are more workers than the level allows, or if no work is left.
    """

    def __init__(
        self,
        worker: Worker,
        watch: _ClockedController,
        wave: Iterator[TrialWork],
        stop: StopRequest,
        group: asyncio.TaskGroup,
    ) -> None:
        self._worker = worker
        self._watch = watch
        self._wave = wave
        self._stop = stop
        self._group = group
        self._size = 0
        self._empty = False
        watch.pace.mark_busy(perf_counter_ns())

    def fill(self) -> None:
        """Start workers until there are as many as the level allows."""
        while self._size < self._watch.pace.level and not self._empty:
            self._size += 1
            self._group.create_task(self._work())

    async def _work(self) -> None:
        while self._size <= self._watch.pace.level and self._stop.reason is None:
            item = next(self._wave, None)
            if item is None or self._worker.is_too_late(item):
                self._empty = True
                self._watch.pace.mark_idle()
                break
            await wait_until_due(item, self._worker, self._stop)
            if self._stop.reason is not None:
                break
            self._watch.pace.count_start()
            await self._worker.process_work(item)
            self._watch.ended()
            self.fill()
        self._size -= 1
