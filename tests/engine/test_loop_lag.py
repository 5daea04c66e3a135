"""Loop lag: a client that was too busy for its timings to hold says so itself."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from tests.engine.engine_kit import plan_of, run_plan

from benchwright.engine.protocols import Session
from benchwright.records import Outcome, Trial


async def test_an_agent_that_blocks_the_loop_spoils_the_timings(tmp_path: Path) -> None:
    async def blocks(trial: Trial, session: Session) -> Outcome:
        await asyncio.sleep(0.005)
        time.sleep(0.05)  # what an agent must not do: it holds up all others
        return Outcome()

    result = await run_plan(plan_of(8, blocks), tmp_path, concurrency=2)
    assert result.loop_lag.samples > 0
    assert result.loop_lag.longest >= 30_000_000
    assert result.loop_lag.p50 <= result.loop_lag.p99 <= result.loop_lag.longest
    assert result.loop_lag.spoils_timings


async def test_an_agent_that_waits_as_it_should_is_sampled_and_spoils_nothing(tmp_path: Path) -> None:
    async def waits(trial: Trial, session: Session) -> Outcome:
        await asyncio.sleep(0.05)
        return Outcome()

    result = await run_plan(plan_of(40, waits), tmp_path, concurrency=2)
    assert result.loop_lag.samples >= 20
    assert result.loop_lag.p50 < 10_000_000


async def test_a_run_too_short_to_be_sampled_claims_nothing(tmp_path: Path) -> None:
    result = await run_plan(plan_of(1), tmp_path)
    assert not result.loop_lag.spoils_timings


async def test_short_blocks_count_for_all_the_time_in_which_nothing_could_be_sampled(tmp_path: Path) -> None:
    """The loop is blocked for a fifth of the time, in which a timer of 10 ms would have rung a hundred times: by the
    samples that were taken it was late five times of some four hundred."""

    async def blocks(trial: Trial, session: Session) -> Outcome:
        await asyncio.sleep(0.8)
        time.sleep(0.2)
        return Outcome()

    result = await run_plan(plan_of(5, blocks), tmp_path, concurrency=1)
    assert result.loop_lag.p99 >= 150_000_000
    assert result.loop_lag.samples >= 300


async def test_a_long_block_is_a_standstill_and_spoils_no_other_timing(tmp_path: Path) -> None:
    async def blocks(trial: Trial, session: Session) -> Outcome:
        if trial.sample.content == 3:
            time.sleep(1.2)
        await asyncio.sleep(0.1)
        return Outcome()

    result = await run_plan(plan_of(8, blocks), tmp_path, concurrency=1)
    (still,) = result.loop_lag.standstills
    assert 1_100_000_000 <= still.ns < 3_000_000_000
    assert still.cause == "stopped", "it used no processor time"
    assert result.loop_lag.longest == still.ns
    assert result.loop_lag.p99 < 1_000_000_000


async def test_code_that_keeps_the_processor_is_told_from_a_stop(tmp_path: Path) -> None:
    async def works(trial: Trial, session: Session) -> Outcome:
        end = time.process_time() + 1.2
        while time.process_time() < end:
            pass
        return Outcome()

    result = await run_plan(plan_of(1, works), tmp_path)
    assert [still.cause for still in result.loop_lag.standstills] == ["busy"]
