"""A plan that lasts so many seconds: what is begun within them goes on to its end, and nothing begins after them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from time import perf_counter_ns
from typing import cast

import msgspec
import pytest
from tests.engine.engine_kit import FunctionTask, plan_of, run_plan

from benchwright.engine.adaptive import executor as adaptive
from benchwright.engine.plan import Plan
from benchwright.engine.precise_waits import wait_until
from benchwright.engine.protocols import Session, TimedSession
from benchwright.engine.run import run
from benchwright.records import Outcome, Sample, Trial
from benchwright.runs.journal import Journal

SECONDS = 0.2


def endless(solve: Callable[[Trial, Session], object], seconds: float = SECONDS) -> Plan:
    """A plan whose samples never end."""
    plan = plan_of(1)
    task = FunctionTask((), solve)  # type: ignore[arg-type]
    task.samples = lambda: (Sample(str(number), number) for number in count())  # type: ignore[method-assign]
    return msgspec.structs.replace(plan, task=task, shares_clock=True, open_ended=True, max_seconds=seconds)


class Begun:
    """A solver that notes when it was asked, and that ends each trial at the very moment from which none may begin."""

    def __init__(self) -> None:
        self.moments: list[int] = []
        self.last = 0

    async def __call__(self, trial: Trial, session: Session) -> Outcome:
        self.moments.append(perf_counter_ns())
        self.last = cast(TimedSession, session).last_start or 0
        await wait_until(self.last)
        return Outcome()


async def test_a_place_that_is_free_at_the_end_is_not_taken_again(tmp_path: Path) -> None:
    begun = Begun()
    result = await run_plan(endless(begun), tmp_path, concurrency=8)
    assert result.is_finished
    assert len(begun.moments) == 8
    assert max(begun.moments) < begun.last


async def test_it_holds_where_the_concurrency_finds_itself(tmp_path: Path) -> None:
    begun, journal = Begun(), Journal(tmp_path)
    executor = adaptive.AdaptiveExecutor({}, 4, lambda level, settled, alone: None)
    await run(endless(begun), executor, journal)
    journal.close()
    assert len(begun.moments) == 1


async def test_trials_that_end_before_are_followed_by_others_until_then(tmp_path: Path) -> None:
    moments = list[int]()

    async def short(trial: Trial, session: Session) -> Outcome:
        moments.append(perf_counter_ns())
        await wait_until(perf_counter_ns() + 10_000_000)
        return Outcome()

    await run_plan(endless(short), tmp_path, concurrency=2)
    lasted = (max(moments) - min(moments)) / 1e9
    assert SECONDS / 2 < lasted < SECONDS + 0.001


async def test_a_trial_that_is_due_in_time_begins_though_there_was_no_place_for_it(tmp_path: Path) -> None:
    """What an open loop held back was asked for: to leave it out would hide the wait."""

    async def slow(trial: Trial, session: Session) -> Outcome:
        await wait_until(perf_counter_ns() + 150_000_000)
        return Outcome(answer="late")

    plan = msgspec.structs.replace(
        plan_of(4, slow),
        shares_clock=True,
        max_seconds=SECONDS,
        reorder_trials=lambda trials: (msgspec.structs.replace(trial, due_ns=1) for trial in trials),
    )
    result = await run_plan(plan, tmp_path, concurrency=1)
    assert result.is_finished
    assert result.seconds > 0.5, "all four, one after the other"


@pytest.mark.parametrize("seconds", [None, 100.0])
async def test_a_plan_that_ends_before_is_not_waited_for(tmp_path: Path, seconds: float | None) -> None:
    plan = msgspec.structs.replace(plan_of(5), shares_clock=True, max_seconds=seconds)
    result = await run_plan(plan, tmp_path)
    assert result.is_finished
    assert result.seconds < 10
