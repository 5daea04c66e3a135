"""Executors: where trials are run. Here: in this process, on this event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from itertools import groupby
from time import perf_counter_ns
from typing import Protocol

from benchwright.endpoint.providers import ModelClient
from benchwright.engine.plan import Plan
from benchwright.engine.stop import Stop
from benchwright.engine.worker import Deliver, Work, Worker


class Executor(Protocol):
    """Runs work and delivers encoded results, wherever the workers are."""

    async def run(self, plan: Plan, work: Iterator[Work], deliver: Deliver, stop: Stop) -> None:
        """Takes work until there is none or `stop` says so; returns when nothing is in flight any more.

        `work` is drawn as needed. A wave's trials all end before the next wave's start. Cancelling ends the
        trials in flight, each delivered as cancelled.
        """
        ...


class LocalExecutor:
    """A fixed number of workers over one iterator: `concurrency` trials in flight, never a task per sample."""

    def __init__(self, clients: Mapping[str, ModelClient], concurrency: int) -> None:
        self._clients = clients
        self._concurrency = concurrency

    async def run(self, plan: Plan, work: Iterator[Work], deliver: Deliver, stop: Stop) -> None:
        """See `Executor.run`."""
        started = perf_counter_ns()
        async with plan.task.open() as solver:
            worker = Worker(solver, tuple(plan.task.scorers), self._clients, plan.limits, deliver)
            for _, wave in groupby(work, key=lambda item: item.trial.wave):
                try:
                    async with asyncio.TaskGroup() as group:
                        for _ in range(self._concurrency):
                            group.create_task(_drain(worker, wave, stop, started))  # noqa: B031 - shared on purpose
                except* Exception as failures:
                    raise _first(failures) from None
                if stop.reason is not None:
                    return


async def _drain(worker: Worker, wave: Iterator[Work], stop: Stop, started: int) -> None:
    for item in wave:
        if item.trial.due_ns is not None:
            await stop.sleep((item.trial.due_ns - (perf_counter_ns() - started)) / 1e9)
        if stop.reason is not None:
            return
        await worker.do(item)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
