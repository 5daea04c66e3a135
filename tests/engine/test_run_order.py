"""The one loop: what runs at once, in which order, against which target, and how little it keeps in memory."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.engine.engine_kit import (
    TARGET,
    FunctionTask,
    always,
    answer,
    journalled,
    plan_of,
    run_plan,
    samples,
)

from benchwright.engine.plan import Plan
from benchwright.engine.precise_waits import START_LEAD_NS
from benchwright.engine.protocols import Session
from benchwright.engine.stop_rules import StopRule
from benchwright.engine.worker import ScoredWork, SolvedWork, WorkResult
from benchwright.errors import UserError
from benchwright.records import Outcome, Sample, Status, Trial


class Crowd:
    """A solver that notes how many of its trials were in flight at once, and in which order they ended."""

    def __init__(self, waits: list[int] | None = None) -> None:
        self.most = 0
        self.began: list[Trial] = []
        self.ended: list[Trial] = []
        self._waits = waits or [1]

    async def __call__(self, trial: Trial, session: Session) -> Outcome:
        self.began.append(trial)
        self.most = max(self.most, len(self.began) - len(self.ended))
        for _ in range(self._waits[len(self.began) % len(self._waits)]):
            await asyncio.sleep(0)
        self.ended.append(trial)
        return Outcome()


@given(
    count=st.integers(0, 60),
    concurrency=st.integers(1, 12),
    waits=st.lists(st.integers(0, 9), min_size=1, max_size=20),
)
@settings(max_examples=30, deadline=None)
def test_never_more_trials_in_flight_than_asked_for_and_never_fewer_without_need(
    count: int, concurrency: int, waits: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    crowd = Crowd([wait + 1 for wait in waits])
    directory = tmp_path_factory.mktemp("run")
    result = asyncio.run(run_plan(plan_of(count, crowd), directory, concurrency=concurrency))
    assert result.is_finished
    assert crowd.most == min(count, concurrency)
    assert len(crowd.ended) == len({trial.key for trial in crowd.ended}) == count


async def test_trials_begin_in_the_order_of_the_plan(tmp_path: Path) -> None:
    crowd = Crowd([1, 5, 2])
    await run_plan(plan_of(20, crowd, repeats=2), tmp_path, concurrency=3)
    assert [(trial.sample.id, trial.repeat) for trial in crowd.began] == [
        (str(number), repeat) for number in range(20) for repeat in range(2)
    ]


async def test_every_sample_is_tried_against_every_target(tmp_path: Path) -> None:
    baseline = replace(TARGET, slot="baseline", model="older")

    async def says_its_model(trial: Trial, session: Session) -> Outcome:
        return Outcome(answer=f"{trial.target.model} {session.target.slot}")

    await run_plan(plan_of(5, says_its_model, targets=[TARGET, baseline], repeats=2), tmp_path)
    assert Counter(trial.target for trial in journalled(tmp_path).trials) == {"primary": 10, "baseline": 10}


class WavePlan(Plan, frozen=True):
    """A plan whose trials come in waves, by the tens digit of their sample."""

    def trials(self) -> Iterator[Trial]:
        for trial in super().trials():
            yield replace(trial, wave=trial.sample.content // 10)


async def test_a_wave_ends_before_the_next_begins(tmp_path: Path) -> None:
    crowd = Crowd([9, 1, 4])
    lively: list[tuple[str, int]] = []

    async def solve(trial: Trial, session: Session) -> Outcome:
        lively.append(("began", trial.wave))
        outcome = await crowd(trial, session)
        lively.append(("ended", trial.wave))
        return outcome

    task = FunctionTask(samples(30), solve, [always(1.0)])
    await run_plan(WavePlan(task, 30, [TARGET]), tmp_path, concurrency=4)
    assert [wave for _, wave in lively] == [0] * 20 + [1] * 20 + [2] * 20
    assert crowd.most == 4


class DuePlan(Plan, frozen=True):
    """A plan for open-loop load: a trial each 30 ms, whether the one before has ended or not."""

    def trials(self) -> Iterator[Trial]:
        for trial in super().trials():
            yield replace(trial, due_ns=trial.sample.content * 30_000_000)


async def test_a_trial_starts_when_it_is_due_whether_those_before_have_ended_or_not(tmp_path: Path) -> None:
    began: list[float] = []
    all_have_begun = asyncio.Barrier(5)

    async def waits_for_the_others(trial: Trial, session: Session) -> Outcome:
        began.append(perf_counter())
        async with asyncio.timeout(20):
            await all_have_begun.wait()
        return Outcome()

    start = perf_counter()
    plan = DuePlan(FunctionTask(samples(5), waits_for_the_others), 5, [TARGET])
    await run_plan(plan, tmp_path, concurrency=5)
    assert {trial.status for trial in journalled(tmp_path).trials} == {Status.ANSWERED}
    for number, moment in enumerate(began):
        assert moment - start >= number * 0.03 - START_LEAD_NS / 1e9


async def test_trials_are_drawn_as_they_come_due_however_many_may_be_in_flight(tmp_path: Path) -> None:
    """Ten thousand tasks that wait, each for a trial of its own, would delay the first requests of a level."""
    drawn: list[str] = []
    drawn_at_the_start: list[int] = []

    def half_a_second_apart(trials: Iterator[Trial]) -> Iterator[Trial]:
        for trial in trials:
            drawn.append(trial.sample.id)
            yield replace(trial, due_ns=(trial.sample.content + 1) * 500_000_000)

    async def solve(trial: Trial, session: Session) -> Outcome:
        drawn_at_the_start.append(len(drawn))
        return Outcome()

    plan = Plan(FunctionTask(samples(3), solve), 3, [TARGET], reorder_trials=half_a_second_apart)
    await run_plan(plan, tmp_path, concurrency=10_000)
    assert drawn == ["0", "1", "2"]
    assert drawn_at_the_start[0] < 3


class AtOnce(StopRule):
    """Stops the run at the first result."""

    def update(self, result: WorkResult) -> str | None:
        return "enough"


class HourlyPlan(Plan, frozen=True):
    def trials(self) -> Iterator[Trial]:
        for trial in super().trials():
            yield replace(trial, due_ns=trial.sample.content * 3_600_000_000_000)


async def test_a_stop_does_not_wait_for_what_is_due_later_and_starts_none_of_it(tmp_path: Path) -> None:
    plan = HourlyPlan(FunctionTask(samples(5)), 5, [TARGET])
    result = await run_plan(plan, tmp_path, rules=[AtOnce()])
    assert result.stop_reason == "enough"
    assert len(journalled(tmp_path).trials) == 1


class Watcher:
    """A listener that writes down what it is told."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def on_start(self, total: int, done: int, again: int) -> None:
        self.heard.append(("started", total, done, again))

    def on_result(self, result: WorkResult) -> None:
        self.heard.append(type(result))

    def on_message(self, text: str) -> None:
        self.heard.append(text)

    def on_end(self) -> None:
        self.heard.append("ended")


async def test_listeners_hear_everything_and_in_order(tmp_path: Path) -> None:
    await run_plan(plan_of(samples(3)[:1]), tmp_path)
    watchers = [Watcher(), Watcher()]
    await run_plan(plan_of(3), tmp_path, concurrency=1, listeners=watchers)
    for watcher in watchers:
        assert watcher.heard == [
            ("started", 3, 1, 0),
            SolvedWork,
            ScoredWork,
            SolvedWork,
            ScoredWork,
            "ended",
        ]


async def test_listeners_hear_the_end_of_a_run_that_breaks_too(tmp_path: Path) -> None:
    def rows() -> Iterator[Sample]:
        yield Sample("0", 0)
        raise UserError("Row 1: 'question' cannot be null")

    class BrokenTask(FunctionTask):
        def samples(self) -> Iterator[Sample]:
            return rows()

    watcher = Watcher()
    with pytest.raises(UserError, match="Row 1"):
        await run_plan(Plan(BrokenTask([]), 2, [TARGET]), tmp_path, listeners=[watcher], concurrency=1)
    assert watcher.heard[-1] == "ended"
    assert len(journalled(tmp_path).trials) == 1, "what came before the bad row is kept"


def test_a_run_needs_no_main_thread(tmp_path: Path) -> None:
    """Signals are only caught where they can be; a notebook's thread runs a plan just as well."""
    results = []
    thread = threading.Thread(
        target=lambda: results.append(asyncio.run(run_plan(plan_of(3), tmp_path)).is_finished)
    )
    thread.start()
    thread.join()
    assert results == [True]


def peak_of(count: int, directory: Path) -> int:
    """The most memory, in bytes, that a run of so many trivial trials held at once."""

    class Endless(FunctionTask):
        def samples(self) -> Iterator[Sample]:
            return (Sample(str(number), number) for number in range(count))

    plan = Plan(Endless([], answer, [always(1.0)]), count, [TARGET])
    tracemalloc.start()
    try:
        asyncio.run(run_plan(plan, directory, concurrency=64))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_memory_does_not_grow_with_what_is_written(tmp_path: Path) -> None:
    """50,000 trials write 25 MB; what stays is the table of contents seen, 16 to 48 bytes each as it grows."""
    few, many = peak_of(5_000, tmp_path / "few"), peak_of(50_000, tmp_path / "many")
    assert (many - few) / 45_000 < 64
    assert (tmp_path / "many" / "trials.jsonl").stat().st_size > 10_000_000


async def test_a_plan_that_time_ends_tells_no_number_of_trials(tmp_path: Path) -> None:
    plan = replace(plan_of(3), open_ended=True)
    assert (await run_plan(plan, tmp_path)).is_finished
    assert "total" not in journalled(tmp_path).events[0].detail
