"""By how much trials begin after their intended start: what an open loop's latency has to count in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter_ns
from typing import cast

from msgspec.structs import replace
from tests.engine.engine_kit import TARGET, FunctionTask, journalled, run_plan, samples

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.simulate import SimulatedEndpoint
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Session, TimedSession
from benchwright.records import Outcome, Status, Trial

GAP = 50_000_000
TAKES = 0.15


def each_gap(trials: Iterator[Trial]) -> Iterator[Trial]:
    for trial in trials:
        yield replace(trial, due_ns=trial.sample.content * GAP)


async def slowly(trial: Trial, session: Session) -> Outcome:
    await asyncio.sleep(TAKES)
    return Outcome()


async def test_a_trial_that_waits_for_a_free_worker_is_late_by_that_wait(tmp_path: Path) -> None:
    """One worker, five trials due 50 ms apart of 150 ms each: the n-th begins n x 100 ms after it was due."""
    plan = Plan(FunctionTask(samples(5), slowly), 5, [TARGET], reorder_trials=each_gap)
    await run_plan(plan, tmp_path, concurrency=1)
    late = [trial.late / 1e9 for trial in journalled(tmp_path).trials]
    for number, seconds in enumerate(late):
        assert seconds >= number * (TAKES - GAP / 1e9) - 0.02
    assert late == sorted(late)
    assert late[4] < 5


async def test_lateness_and_time_from_the_start_add_up_to_the_time_from_the_intended_start(
    tmp_path: Path,
) -> None:
    plan = Plan(FunctionTask(samples(5), slowly), 5, [TARGET], reorder_trials=each_gap)
    await run_plan(plan, tmp_path, concurrency=1)
    trials = journalled(tmp_path).trials
    first = trials[0].started_at - trials[0].late
    for number, trial in enumerate(trials):
        intended = trial.started_at - trial.late - first
        assert abs(intended - number * GAP) < 40_000_000


async def test_a_trial_without_an_intended_start_is_never_late(tmp_path: Path) -> None:
    await run_plan(Plan(FunctionTask(samples(3), slowly), 3, [TARGET]), tmp_path, concurrency=1)
    assert [trial.late for trial in journalled(tmp_path).trials] == [0, 0, 0]
    assert b"late" not in (tmp_path / "trials.jsonl").read_bytes()


async def test_what_a_solver_does_before_its_first_request_is_done_before_that_is_due(tmp_path: Path) -> None:
    early = []

    async def asks(trial: Trial, session: Session) -> Outcome:
        begun, timed = perf_counter_ns(), cast(TimedSession, session)
        early.append(begun < timed.intended_start)
        reply = await session.chat([{"role": "user", "content": "hello"}])
        assert timed.actual_start >= timed.intended_start
        return Outcome(answer=reply.text)

    async with SimulatedEndpoint() as endpoint:
        target = replace(TARGET, base_url=endpoint.base_url)
        async with EndpointClient(target) as client:
            plan = Plan(FunctionTask(samples(8), asks), 8, [target], reorder_trials=each_gap)
            await run_plan(plan, tmp_path, concurrency=2, clients={target.slot: client})
    assert any(early)
    assert [trial.status for trial in journalled(tmp_path).trials] == [Status.ANSWERED] * 8
