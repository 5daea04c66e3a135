"""What drives a shard, seen through shards of this process: nothing on its way is lost, nobody waits in vain."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.engine.engine_kit import TARGET, FunctionScorer, FunctionTask, journalled, samples

from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Score, Session
from benchwright.engine.run import RunResult, run
from benchwright.engine.shards import Shard, ShardedExecutor, ShardParts
from benchwright.engine.shards.messages import RunTrials, decode_order
from benchwright.engine.shards.shard_loop import serve_shard
from benchwright.records import Outcome, Trial, TrialLimits
from benchwright.runs.journal import Journal


class Here:
    """Shards in this process, whose reports take a while on their way; there is room for `rooms` of them."""

    def __init__(self, task: FunctionTask, count: int = 1, rooms: int = 1, delay: float = 0.0) -> None:
        self.count = count
        self._task = task
        self._rooms = rooms
        self._delay = delay
        self.given: list[int] = []
        """How many trials each order to work was for."""

    @asynccontextmanager
    async def open(self, number: int, concurrency: int) -> AsyncIterator[Shard]:
        if number >= self._rooms:
            await asyncio.sleep(30)
        connection = Connection(self._delay, self.given)
        parts = ShardParts(self._task, {}, TrialLimits())
        serving = asyncio.ensure_future(
            serve_shard(parts, concurrency, connection.orders.get, connection.reports.put)
        )
        try:
            yield connection
        finally:
            serving.cancel()
            await asyncio.wait([serving])


class Connection:
    def __init__(self, delay: float, given: list[int]) -> None:
        self.orders: asyncio.Queue[bytes] = asyncio.Queue()
        self.reports: asyncio.Queue[bytes] = asyncio.Queue()
        self._delay = delay
        self._given = given

    async def send(self, message: bytes) -> None:
        order = decode_order(message)
        if isinstance(order, RunTrials):
            self._given.append(len(order.works))
        await self.orders.put(message)

    async def receive(self) -> bytes:
        reports = await self.reports.get()
        await asyncio.sleep(self._delay)
        return reports


class Answers:
    """Solves at once, and knows what it has solved."""

    def __init__(self) -> None:
        self.solved: list[str] = []

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        self.solved.append(trial.sample.id)
        return Outcome(answer="42")


async def run_here(task: FunctionTask, shards: Here, directory: Path, concurrency: int) -> RunResult:
    journal = Journal(directory)
    plan = Plan(task, task.size(), (TARGET,))
    try:
        return await run(plan, ShardedExecutor(shards, concurrency), journal)
    finally:
        journal.close()


def task_of(count: int, answers: Answers) -> FunctionTask:
    scorer = FunctionScorer(lambda sample, outcome: Score(1.0))
    return FunctionTask(samples(count), answers.solve, [scorer])


async def test_what_was_on_its_way_when_the_run_was_cancelled_is_journalled(tmp_path: Path) -> None:
    answers = Answers()
    task = task_of(1000, answers)
    running = asyncio.ensure_future(run_here(task, Here(task, delay=0.2), tmp_path, concurrency=4))
    while not answers.solved:
        await asyncio.sleep(0)
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)
    assert (await running).is_interrupted
    assert {trial.sample for trial in journalled(tmp_path).trials} == set(answers.solved)


async def test_nobody_waits_for_room_when_the_others_have_done_all(tmp_path: Path) -> None:
    task = task_of(50, Answers())
    result = await run_here(task, Here(task, count=3, rooms=1), tmp_path, concurrency=6)
    assert result.is_finished
    assert result.seconds < 10
    assert len(journalled(tmp_path).scores) == 50


async def test_ctrl_c_ends_a_run_that_waits_for_room(tmp_path: Path) -> None:
    task = task_of(50, Answers())
    running = asyncio.ensure_future(run_here(task, Here(task, rooms=0), tmp_path, concurrency=2))
    await asyncio.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)
    result = await running
    assert result.is_interrupted
    assert result.seconds < 10
    assert journalled(tmp_path).trials == []


async def test_a_shard_whose_trials_are_short_has_work_while_its_reports_are_on_their_way(
    tmp_path: Path,
) -> None:
    task = task_of(100, Answers())
    shards = Here(task)
    await run_here(task, shards, tmp_path, concurrency=8)
    assert shards.given[:2] == [9, 16]


async def test_a_shard_whose_trials_take_long_again_gets_none_that_would_wait(tmp_path: Path) -> None:
    """After short trials it has more than it has places for; the long ones after them come as places get free."""
    answers = Answers()

    async def solve(trial: Trial, session: Session) -> Outcome:
        if len(answers.solved) >= 40:
            await asyncio.sleep(0.01 * (len(answers.solved) % 7))
        return await answers.solve(trial, session)

    task = FunctionTask(samples(120), solve, [FunctionScorer(lambda sample, outcome: Score(1.0))])
    result = await run_here(task, Here(task), tmp_path, concurrency=8)
    assert result.is_finished
    assert len(journalled(tmp_path).scores) == 120


async def test_a_shard_with_few_places_keeps_no_trial_from_the_others(tmp_path: Path) -> None:
    task = task_of(30, Answers())
    shards = Here(task)
    await run_here(task, shards, tmp_path, concurrency=4)
    assert max(shards.given) == 4
