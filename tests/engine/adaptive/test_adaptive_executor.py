"""The executor behind `--concurrency auto`: the work of a plan, with as many workers as serve."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter, time_ns

import pytest
from msgspec.structs import replace
from tests.engine.engine_kit import (
    TARGET,
    FunctionTask,
    always,
    answer,
    journalled,
    plan_of,
    samples,
)

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.simulate import Delay, Settings, SimulatedEndpoint
from benchwright.engine.adaptive.executor import AdaptiveExecutor
from benchwright.engine.plan import Plan
from benchwright.engine.precise_waits import START_LEAD_NS
from benchwright.engine.protocols import Session
from benchwright.engine.run import RunResult, run
from benchwright.engine.stop_rules import StopRule
from benchwright.engine.worker import WorkResult
from benchwright.errors import UserError
from benchwright.records import Outcome, Sample, Status, Target, Trial
from benchwright.runs.concurrency_history import SETTLING_FLAG
from benchwright.runs.journal import Journal

Heard = list[tuple[int, bool, int]]
"""What was told of the pace: the level, whether it had settled, and when, in ns since the epoch."""


async def run_adaptively(
    plan: Plan,
    directory: Path,
    *,
    bound: int = 64,
    clients: Mapping[str, EndpointClient] | None = None,
    rules: Sequence[StopRule] = (),
) -> tuple[RunResult, Heard]:
    """One session of a run; also what was told of its pace."""
    heard: Heard = []
    executor = AdaptiveExecutor(
        clients or {}, bound, lambda level, settled, alone: heard.append((level, settled, time_ns()))
    )
    journal = Journal(directory)
    try:
        return await run(plan, executor, journal, rules), heard
    finally:
        journal.close()


class Counter:
    """A server of so many slots, at which each answer takes 5 ms; notes the most trials in flight."""

    def __init__(self, slots: int = 1000) -> None:
        self.most = self._now = 0
        self._slots = asyncio.Semaphore(slots)

    async def __call__(self, trial: Trial, session: Session) -> Outcome:
        self._now += 1
        self.most = max(self.most, self._now)
        async with self._slots:
            await asyncio.sleep(0.005)
        self._now -= 1
        return Outcome()


async def test_all_trials_are_done_once_and_no_more_at_a_time_than_the_bound(tmp_path: Path) -> None:
    server = Counter()
    result, heard = await run_adaptively(plan_of(1500, server, [always(1.0)]), tmp_path, bound=12)
    kept = journalled(tmp_path)
    assert result.is_finished
    assert len(kept.trials) == len({trial.key for trial in kept.trials}) == len(kept.scores) == 1500
    assert heard[0][:2] == (1, False)
    assert 2 <= server.most <= 12
    assert max(level for level, _, _ in heard) == server.most


async def test_where_more_gain_nothing_it_stays_near_what_the_server_does_at_a_time(tmp_path: Path) -> None:
    server = Counter(slots=6)
    _, heard = await run_adaptively(plan_of(1200, server), tmp_path)
    assert heard[-1][0] <= 24
    assert heard[-1][1]


async def test_a_client_that_tells_of_an_overload_halves_it_at_once(tmp_path: Path) -> None:
    async with EndpointClient(TARGET) as client:
        told = 0

        async def solve(trial: Trial, session: Session) -> Outcome:
            nonlocal told
            await asyncio.sleep(0.001)
            if int(trial.sample.id) >= 5 and told < 2:  # four trials ended one by one, then two are in flight
                told += 1
                client.on_overload(1)
            return Outcome()

        _, heard = await run_adaptively(plan_of(40, solve), tmp_path, clients={"primary": client})
    assert [level for level, _, _ in heard][:3] == [1, 2, 1]


class Waves(Plan, frozen=True):
    """Two waves of 100 trials."""

    def trials(self) -> Iterator[Trial]:
        for trial in super().trials():
            yield replace(trial, wave=trial.sample.content // 100)


async def test_a_wave_ends_before_the_next_begins(tmp_path: Path) -> None:
    lively: list[tuple[str, int]] = []

    async def solve(trial: Trial, session: Session) -> Outcome:
        lively.append(("began", trial.wave))
        await asyncio.sleep(0.001)
        lively.append(("ended", trial.wave))
        return Outcome()

    await run_adaptively(Waves(FunctionTask(samples(200), solve), 200, [TARGET]), tmp_path)
    assert [wave for _, wave in lively] == [0] * 200 + [1] * 200


class Due(Plan, frozen=True):
    """A plan for open-loop load: a trial each 20 ms."""

    def trials(self) -> Iterator[Trial]:
        for trial in super().trials():
            yield replace(trial, due_ns=trial.sample.content * 20_000_000)


async def test_no_trial_begins_before_it_is_due(tmp_path: Path) -> None:
    began: list[float] = []

    async def solve(trial: Trial, session: Session) -> Outcome:
        began.append(perf_counter())
        return Outcome()

    start = perf_counter()
    await run_adaptively(Due(FunctionTask(samples(8), solve), 8, [TARGET]), tmp_path)
    assert len(began) == 8
    for number, moment in enumerate(began):
        assert moment - start >= number * 0.02 - START_LEAD_NS / 1e9


class AfterTen(StopRule):
    """Stops the run at the tenth result."""

    def __init__(self) -> None:
        self._results = 0

    def update(self, result: WorkResult) -> str | None:
        self._results += 1
        return "enough" if self._results == 10 else None


async def test_a_stop_lets_what_is_in_flight_end_and_starts_nothing_more(tmp_path: Path) -> None:
    result, _ = await run_adaptively(plan_of(500), tmp_path, rules=[AfterTen()])
    assert result.stop_reason == "enough"
    kept = journalled(tmp_path).trials
    assert 5 <= len(kept) < 50
    assert {trial.status for trial in kept} == {Status.ANSWERED}


async def test_a_bad_row_ends_the_run_with_its_own_error(tmp_path: Path) -> None:
    class Broken(FunctionTask):
        def samples(self) -> Iterator[Sample]:
            yield from samples(40)
            raise UserError("Row 40: 'question' cannot be null")

    with pytest.raises(UserError, match="Row 40"):
        await run_adaptively(Plan(Broken([], answer), 41, [TARGET]), tmp_path)


async def test_requests_are_flagged_that_began_before_it_had_settled_and_no_others(tmp_path: Path) -> None:
    async def solve(trial: Trial, session: Session) -> Outcome:
        reply = await session.chat([{"role": "user", "content": trial.sample.id}])
        return Outcome(answer=reply.text)

    async with SimulatedEndpoint(Settings(slots=4, first_token=Delay(mean_ms=4))) as endpoint:
        target = Target("primary", "m", endpoint.base_url)
        async with EndpointClient(target, connections=64) as client:
            plan = plan_of(700, solve, targets=[target])
            _, heard = await run_adaptively(plan, tmp_path, clients={"primary": client})
    (settled,) = (moment for _, stands, moment in heard if stands)
    kept = journalled(tmp_path).trials
    began = {trial.key: trial.started_at + trial.requests[0].started for trial in kept}
    flagged = {trial.key for trial in kept if SETTLING_FLAG in trial.requests[0].flags}
    slack = 2_000_000  # between the moment at which it settles and that at which it says so
    assert {key for key, moment in began.items() if moment < settled - slack} <= flagged
    assert not {key for key, moment in began.items() if moment > settled + slack} & flagged
    assert 0 < len(flagged) < 700
