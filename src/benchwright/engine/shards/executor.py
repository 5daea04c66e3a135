"""The executor that distributes trials to shards. If a shard is lost, no finished trial is lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby
from time import perf_counter_ns

from benchwright.engine.executor import ExecutionCost, run_concurrently
from benchwright.engine.plan import Plan
from benchwright.engine.shards.driver import ShardDriver
from benchwright.engine.shards.messages import Shards
from benchwright.engine.shards.work_pool import WorkPool, distribute_work
from benchwright.engine.stop_rules import StopRequest
from benchwright.engine.worker import DeliverResult, TrialWork
from benchwright.errors import UserError
from benchwright.runs.standstills import combine_lags


class ShardedExecutor:
    """Keeps `concurrency` trials in flight in total. They are distributed evenly over at most `concurrency` shards."""

    def __init__(self, shards: Shards, concurrency: int) -> None:
        self._shards = shards
        self._concurrency = concurrency

    async def run(
        self, plan: Plan, work: Iterator[TrialWork], deliver: DeliverResult, stop: StopRequest
    ) -> ExecutionCost:
        """See `Executor.run`.

        Raises:
            UserError: If a solver or scorer raised an error that ends the run, or no shard is left.
        """
        count = min(self._shards.count, self._concurrency)
        shares = [(self._concurrency + number) // count for number in range(count)]
        earlier = dict(enumerate(shares))
        drivers = [
            ShardDriver(self._shards, number, share, deliver, stop, earlier)
            for number, share in enumerate(shares)
        ]
        try:
            if plan.shares_clock:
                waiting = WorkPool(iter(()), stop)
                await run_concurrently([driver.start(waiting) for driver in drivers])
                await _in_time(drivers, work, stop, plan.max_seconds)
                work = iter(())
            for _, wave in groupby(work, key=lambda item: item.trial.wave):
                await _drive(drivers, WorkPool(wave, stop))
                if stop.reason is not None:
                    break
            await run_concurrently([driver.shut_down() for driver in drivers])
        finally:
            for driver in drivers:
                await driver.close()
        lag = combine_lags(driver.lag for driver in drivers)
        return ExecutionCost(lag, sum(driver.cpu_seconds for driver in drivers))


async def _in_time(
    drivers: list[ShardDriver], work: Iterator[TrialWork], stop: StopRequest, seconds: float | None
) -> None:
    """Run trials that are due at given moments, or trials for a given time, with one clock for all shards.

    If trials have due times, the trials are dealt to the shards in turn.

    Raises:
        UserError: If a shard was lost for good, and its trials with it.
    """
    origin = perf_counter_ns()
    for driver in drivers:
        driver.origin = origin
    first = next(work, None)
    if first is None:
        return
    everything = chain([first], work)
    if first.trial.due_ns is None:
        last_start = None if seconds is None else origin + round(seconds * 1e9)
        await _drive(drivers, WorkPool(everything, stop, last_start))
        return
    pools = [WorkPool(hand, stop) for hand in distribute_work(everything, len(drivers))]
    await run_concurrently([driver.run_work(pool) for driver, pool in zip(drivers, pools, strict=True)])
    lost = next((driver.given_up for driver in drivers if driver.given_up is not None), None)
    if lost is not None:
        raise UserError(f"A worker process was lost, and the load with it: {lost}.")


async def _drive(drivers: list[ShardDriver], pool: WorkPool) -> None:
    """Let all shards work on a wave. If a shard is lost for good, the other shards take over its work.

    Raises:
        UserError: If all shards are lost.
    """
    left = [driver for driver in drivers if driver.given_up is None]

    async def drive(driver: ShardDriver) -> None:
        await driver.run_work(pool)
        if all(one.given_up for one in left):
            raise UserError(f"No worker process is left to run trials: {driver.given_up}.")

    await run_concurrently([drive(driver) for driver in left])
