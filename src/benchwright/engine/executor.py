"""Executors, which run trials. `LocalExecutor` runs trials in this process, on this event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import chain, groupby
from typing import Any, Protocol

from benchwright.endpoint.providers import ModelClient
from benchwright.engine.plan import Plan
from benchwright.engine.stop_rules import StopRequest
from benchwright.engine.worker import DeliverResult, TrialWork, Worker
from benchwright.records import Record
from benchwright.runs.process_delays import LoopLag


class ExecutionCost(Record, frozen=True):
    """Cost of the worker processes: the worst loop lag of any process, the standstills of all processes, and
    their total CPU seconds.
    """

    loop_lag: LoopLag = LoopLag()
    cpu_seconds: float = 0.0


class Executor(Protocol):
    """Runs trials in its workers, wherever these are, and delivers the encoded results."""

    async def run(
        self, plan: Plan, work: Iterator[TrialWork], deliver: DeliverResult, stop: StopRequest
    ) -> ExecutionCost:
        """Run all work, or run work until `stop` has a reason. Return when no trial is in flight any more.

        `work` is drawn as needed. All trials of a wave end before those of the next wave start. If this call is
        cancelled, the trials in flight end and are delivered as cancelled.
        """
        ...


class LocalExecutor:
    """Runs up to `concurrency` trials at a time in a fixed number of workers. No task is created per sample."""

    def __init__(self, clients: Mapping[str, ModelClient], concurrency: int) -> None:
        self._clients = clients
        self._concurrency = concurrency

    async def run(
        self, plan: Plan, work: Iterator[TrialWork], deliver: DeliverResult, stop: StopRequest
    ) -> ExecutionCost:
        """See `Executor.run`."""
        async with plan.task.open() as solver:
            worker = Worker(
                solver,
                tuple(plan.task.scorers),
                self._clients,
                plan.limits,
                deliver,
                keeps=plan.keep_condition,
                seconds=plan.max_seconds,
            )
            for _, wave in groupby(work, key=lambda item: item.trial.wave):
                first = next(wave)
                if worker.is_too_late(first):
                    break
                wave = chain([first], wave)
                if first.trial.due_ns is not None:
                    await _in_time(worker, wave, stop, plan.is_cancellable, self._concurrency)
                else:
                    drains = [
                        _drain(worker, wave, stop, plan.is_cancellable) for _ in range(self._concurrency)
                    ]
                    await run_concurrently(drains)
                if stop.reason is not None or worker.is_too_late(first):
                    break
        return ExecutionCost()


async def run_concurrently(steps: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all coroutines concurrently.

    The first error cancels the other coroutines. That error itself is raised, not an exception group.
    """
    async with task_group() as group:
        for step in steps:
            group.create_task(step)


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """Open a task group that ends when all its tasks have ended.

    The first error cancels the other tasks. That error itself is raised, not an exception group.
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except ExceptionGroup as failures:
        raise _first(failures) from None


async def wait_until_due(item: TrialWork, worker: Worker, stop: StopRequest) -> None:
    """Let the worker prepare a trial. Then wait until the trial is due by the worker's clock, or until the run
    stops.
    """
    if item.trial.due_ns is not None:
        moment = worker.start_moment(item)
        await stop.sleep_until(moment - round(worker.lead_seconds * 1e9))
        if stop.reason is None:
            await worker.prepare(item)
            await stop.sleep_until(moment)


async def _in_time(
    worker: Worker, wave: Iterator[TrialWork], stop: StopRequest, aborts: bool, concurrency: int
) -> None:
    """Start each trial when it is time to prepare it and fewer than `concurrency` trials are in flight.

    No task is created earlier: a load level may have room for ten thousand trials, and creating their tasks
    would delay the first trials.
    """
    places = asyncio.Semaphore(concurrency)

    async def do(item: TrialWork) -> None:
        try:
            await wait_until_due(item, worker, stop)
            if stop.reason is None:
                await (
                    stop.run_unless_interrupted(worker.process_work(item))
                    if aborts
                    else worker.process_work(item)
                )
        finally:
            places.release()

    async with task_group() as group:
        while stop.reason is None:
            await places.acquire()
            item = next(wave, None)
            if item is None:
                return
            await stop.sleep_until(worker.start_moment(item) - round(worker.lead_seconds * 1e9))
            group.create_task(do(item))


async def _drain(worker: Worker, wave: Iterator[TrialWork], stop: StopRequest, aborts: bool) -> None:
    for item in wave:
        if stop.reason is not None or worker.is_too_late(item):
            return
        await (
            stop.run_unless_interrupted(worker.process_work(item)) if aborts else worker.process_work(item)
        )


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
