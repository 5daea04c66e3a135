"""Validation beside other work: limits of time that end tests on a busy machine fail no right answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.catalog.catalog_kit import write_rows

from benchwright.catalog.asking import assistant
from benchwright.catalog.benchmark import Check, Figure
from benchwright.catalog.registry import find_about
from benchwright.catalog.shared_lock import SharedLock
from benchwright.catalog.validation import ValidationResult, validate_benchmark
from benchwright.data.datasets import Source, find_dataset
from benchwright.engine.protocols import Score, Session, Solver
from benchwright.errors import ExecutionError
from benchwright.records import Outcome, Sample, Status, Trial

NAMES = ["first", "second", "third"]


class Crowded:
    """A benchmark on a machine that has room for one at a time: beside others, tests end at their limit.

    `wrong` are samples whose right answer fails alone, too; with `raises` a crowded container is an error.
    """

    def __init__(self, wrong: Sequence[str] = (), *, raises: bool = False) -> None:
        self.about = find_about("gpqa_diamond")
        self.departures: Sequence[str] = ()
        self.scorers = [self]
        self.name, self.fingerprint = "tests", "1"
        self.played: list[str] = []
        self._wrong, self._raises = wrong, raises
        self._under_way = 0

    def samples(self, source: Source) -> Iterator[Sample]:
        return (Sample(name, {}) for name in NAMES)

    def checks(self, sample: Sample) -> Iterator[Check]:
        yield Check("gold", [assistant("right")])
        yield Check("nothing", [assistant("")], passes=False)

    def figures(self, graded: object) -> Sequence[Figure]:
        return ()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        yield self

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        reply = await session.chat([])
        if not reply.text:
            return Outcome(Status.ANSWERED, artifacts={"passed": False})
        self.played.append(trial.sample.id)
        self._under_way += 1
        crowded = self._under_way > 1
        try:
            for _ in range(5):
                await asyncio.sleep(0)
                crowded = crowded or self._under_way > 1
        finally:
            self._under_way -= 1
        if crowded and self._raises:
            raise ExecutionError("the engine does not answer")
        return Outcome(
            Status.ANSWERED, artifacts={"passed": not crowded and trial.sample.id not in self._wrong}
        )

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        return Score(value=float(outcome.artifacts["passed"]))


@pytest.fixture
def anything(tmp_path: Path) -> Source:
    """Data that nobody reads."""
    path = write_rows(tmp_path / "rows.jsonl", [{}])
    return find_dataset(find_about("gpqa_diamond").dataset, tmp_path, path=path, offline=True)


def failed(result: ValidationResult) -> list[str]:
    return [failure.check for failure in result.failures]


async def test_a_right_answer_that_fails_beside_others_is_played_alone_before_it_counts(
    anything: Source,
) -> None:
    benchmark = Crowded()
    ran = await validate_benchmark(benchmark, anything)
    assert failed(ran) == [], ran
    assert sorted(benchmark.played) == sorted(NAMES * 2)


async def test_an_error_beside_others_is_played_alone_too(anything: Source) -> None:
    assert failed(await validate_benchmark(Crowded(raises=True), anything)) == []


async def test_a_right_answer_that_fails_alone_is_a_failure(anything: Source) -> None:
    assert failed(await validate_benchmark(Crowded(["second"]), anything)) == ["second/gold"]


async def test_who_waits_to_work_alone_goes_before_those_that_come_later() -> None:
    turns, order = SharedLock(), []

    async def beside(name: str) -> None:
        async with turns.hold_shared():
            order.append(name)
            await asyncio.sleep(0.01)

    async def alone() -> None:
        async with turns.hold_exclusively():
            order.append("alone")
            await asyncio.sleep(0.01)

    async with asyncio.TaskGroup() as group:
        group.create_task(beside("before"))
        await asyncio.sleep(0)
        group.create_task(alone())
        await asyncio.sleep(0)
        group.create_task(beside("after"))
    assert order == ["before", "alone", "after"]


async def test_work_that_is_cancelled_while_it_waits_to_be_alone_holds_nobody_up() -> None:
    turns = SharedLock()
    async with turns.hold_shared():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), turns.hold_exclusively():
                pass
        async with asyncio.timeout(5), turns.hold_shared():
            pass
