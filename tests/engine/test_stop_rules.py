"""Stopping early: budgets and errors that every further request would meet, never one bad row."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import perf_counter_ns

from tests.engine.engine_kit import Asked, always, answer, journalled, plan_of, run_plan

from benchwright.engine.protocols import Session
from benchwright.engine.run import RunResult
from benchwright.engine.stop_rules import StopRequest, StopRule, SystemicErrorRule, TimeBudget, TokenBudget
from benchwright.errors import ProviderError
from benchwright.records import Outcome, RequestRecord, Trial, Usage


async def asks_10_tokens(trial: Trial, session: Session) -> Outcome:
    """Notes a request of ten tokens, as the session does for each that it makes."""
    usage = Usage(prompt_tokens=7, completion_tokens=3)
    session.requests.append(RequestRecord("r", usage=usage))  # type: ignore[attr-defined]
    await asyncio.sleep(0)
    return await answer(trial, session)


async def stopped_by(rule: StopRule, directory: Path, *, concurrency: int = 1) -> RunResult:
    return await run_plan(
        plan_of(20, asks_10_tokens, [always(1.0)]), directory, rules=[rule], concurrency=concurrency
    )


async def test_a_token_budget_stops_the_run_once_it_is_used_up(tmp_path: Path) -> None:
    result = await stopped_by(TokenBudget(50), tmp_path)
    assert not result.is_finished
    assert result.stop_reason == "the budget of 50 tokens is used up (50 used)"
    assert len(journalled(tmp_path).trials) == 5


async def test_what_is_in_flight_when_a_run_stops_is_finished_and_scored(tmp_path: Path) -> None:
    await stopped_by(TokenBudget(50), tmp_path, concurrency=4)
    done = journalled(tmp_path)
    assert 5 <= len(done.trials) <= 5 + 3
    assert len(done.scores) == len(done.trials)


async def test_a_stopped_run_goes_on_with_a_new_budget(tmp_path: Path) -> None:
    for done in (5, 10, 15):
        await stopped_by(TokenBudget(50), tmp_path)
        assert len(journalled(tmp_path).trials) == done
    assert (await run_plan(plan_of(20, asks_10_tokens, [always(1.0)]), tmp_path)).is_finished


async def test_the_last_trial_may_use_up_the_budget_without_more_to_do(tmp_path: Path) -> None:
    result = await stopped_by(TokenBudget(201), tmp_path)
    assert result.is_finished


async def test_a_time_budget_stops_the_run(tmp_path: Path) -> None:
    async def slow(trial: Trial, session: Session) -> Outcome:
        await asyncio.sleep(0.02)
        return Outcome()

    result = await run_plan(plan_of(500, slow), tmp_path, rules=[TimeBudget(0.1)], concurrency=1)
    assert result.stop_reason == "the budget of 0.1 seconds is used up"
    assert 1 <= len(journalled(tmp_path).trials) <= 6


async def test_an_error_that_every_request_must_meet_stops_the_run_at_once(tmp_path: Path) -> None:
    asked = Asked()

    async def refused(trial: Trial, session: Session) -> Outcome:
        await asked(trial, session)
        raise ProviderError("the key was refused", systemic=True, http_status=401)

    result = await run_plan(plan_of(100, refused), tmp_path, rules=[SystemicErrorRule()], concurrency=1)
    assert result.stop_reason == "the key was refused"
    assert len(asked.samples) == 1


async def test_trials_that_all_fail_alike_from_the_first_on_stop_the_run(tmp_path: Path) -> None:
    asked = Asked(failing=lambda trial: True)
    result = await run_plan(plan_of(100, asked), tmp_path, rules=[SystemicErrorRule(alike=10)], concurrency=1)
    assert (
        result.stop_reason == "the first 10 trials failed with the same error: the endpoint answered HTTP 500"
    )
    assert len(asked.samples) == 10


async def test_one_bad_row_does_not_stop_the_run(tmp_path: Path) -> None:
    asked = Asked(failing=lambda trial: trial.sample.id == "0")
    result = await run_plan(plan_of(30, asked), tmp_path, rules=[SystemicErrorRule()], concurrency=1)
    assert result.is_finished
    assert len(asked.samples) == 30


async def test_a_server_that_fails_later_on_does_not_stop_the_run(tmp_path: Path) -> None:
    asked = Asked(failing=lambda trial: trial.sample.content > 0)
    assert (
        await run_plan(plan_of(30, asked), tmp_path, rules=[SystemicErrorRule()], concurrency=1)
    ).is_finished


async def test_the_first_reason_stands(tmp_path: Path) -> None:
    rules: list[StopRule] = [TokenBudget(0), TimeBudget(0)]
    result = await run_plan(plan_of(3), tmp_path, rules=rules, concurrency=1)
    assert result.stop_reason == "the budget of 0 tokens is used up (0 used)"


async def test_those_who_wait_for_the_same_moment_go_on_together() -> None:
    stop, moment = StopRequest(), perf_counter_ns() + 50_000_000
    woken = [asyncio.create_task(stop.sleep_until(moment)) for _ in range(5)]
    await woken[0]
    await asyncio.sleep(0)
    assert all(one.done() for one in woken)
    assert perf_counter_ns() > moment - 2_000_000


async def test_a_stop_wakes_all_who_wait() -> None:
    stop, now = StopRequest(), perf_counter_ns()
    waiting = [asyncio.create_task(stop.sleep_until(now + hours * 3600 * 10**9)) for hours in (1, 1, 2)]
    await asyncio.sleep(0)
    stop.request_stop("enough")
    await asyncio.wait_for(asyncio.gather(*waiting), 10)
    await asyncio.wait_for(stop.sleep_until(now + 3600 * 10**9), 10)


async def test_under_load_alike_failures_count_from_when_all_that_began_before_them_has_failed(
    tmp_path: Path,
) -> None:
    async def sheds(trial: Trial, session: Session) -> Outcome:
        if trial.sample.id == "0":
            await asyncio.sleep(0.05)
            return Outcome()
        raise ProviderError("the endpoint answered HTTP 500", http_status=500)

    rules = [SystemicErrorRule(alike=10, sheds=True)]
    assert (await run_plan(plan_of(40, sheds), tmp_path / "one", rules=rules, concurrency=2)).is_finished

    async def fails(trial: Trial, session: Session) -> Outcome:
        raise ProviderError("the endpoint answered HTTP 500", http_status=500)

    rules = [SystemicErrorRule(alike=10, sheds=True)]
    result = await run_plan(plan_of(40, fails), tmp_path / "two", rules=rules, concurrency=2)
    assert result.stop_reason is not None
