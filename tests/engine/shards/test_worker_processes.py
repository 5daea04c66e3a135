"""Trials in several processes: the same results in one journal, whatever happens to a process."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path

import pytest
import uvloop
from tests.engine.engine_kit import TARGET, Journalled, journalled
from tests.engine.shards import shard_task

from benchwright.engine.plan import Plan
from benchwright.engine.run import RunResult, run
from benchwright.engine.shards import ProcessShards, ShardedExecutor, WorkerSpec
from benchwright.engine.shards.driver import MAX_CANCEL_SECONDS
from benchwright.engine.shards.messages import (
    FinalReport,
    ShardLost,
    ShardReport,
    Shutdown,
    decode_reports,
    encode_message,
)
from benchwright.engine.worker import WorkResult
from benchwright.errors import UserError
from benchwright.records import Sample, Status, Trial
from benchwright.runs.journal import Journal, read_body


def plain(count: int) -> list[Sample]:
    return [Sample(str(number), {"number": number}) for number in range(count)]


def samples_doing(doing: str, mark: Path, among: int = 20) -> list[Sample]:
    """Plain samples, one of which does something else."""
    special = Sample("special", {"do": doing, "mark": str(mark)})
    return [*plain(among)[: among // 2], special, *plain(among)[among // 2 :]]


async def run_samples(
    samples: Sequence[Sample],
    directory: Path,
    *,
    workers: int = 2,
    concurrency: int = 8,
    rules: Sequence[object] = (),
    recipe: WorkerSpec | None = None,
    arrange: object = None,
) -> RunResult:
    plan = Plan(shard_task.task_of(list(samples)), len(samples), (TARGET,), reorder_trials=arrange)  # type: ignore[arg-type]
    journal = Journal(directory)
    executor = ShardedExecutor(ProcessShards(recipe or shard_task.recipe(), workers), concurrency)
    try:
        return await run(plan, executor, journal, rules)  # type: ignore[arg-type]
    finally:
        journal.close()


def answers(directory: Path, found: Journalled) -> Counter[str]:
    """How many trials each process answered."""
    return Counter(read_body(directory, trial).answer for trial in found.trials)


async def test_every_trial_is_done_once_and_the_processes_share_them(tmp_path: Path) -> None:
    result = await run_samples(plain(60), tmp_path, workers=3)

    found = journalled(tmp_path)
    assert result.is_finished
    assert sorted(int(trial.sample) for trial in found.trials) == list(range(60))
    assert {score.value for score in found.scores} == {1.0}
    assert len(found.scores) == 60
    shares = answers(tmp_path, found)
    assert len(shares) == 3
    assert str(os.getpid()) not in shares


async def test_there_are_never_more_processes_than_trials_in_flight(tmp_path: Path) -> None:
    await run_samples(plain(20), tmp_path, workers=5, concurrency=2)
    assert len(answers(tmp_path, journalled(tmp_path))) == 2


async def test_their_cpu_time_and_loop_lag_are_the_runs(tmp_path: Path) -> None:
    result = await run_samples(plain(20), tmp_path)
    (_, finished) = journalled(tmp_path).events
    assert finished.detail["cpu_seconds"] > 0.1, "two Pythons were started"
    assert result.loop_lag.samples > 0


@pytest.mark.parametrize("doing", ["die once", "die while scoring"])
async def test_a_process_that_is_killed_costs_no_trial(tmp_path: Path, doing: str) -> None:
    mark, place = tmp_path / "mark", tmp_path / "place"
    place.mkdir()
    waiting = [
        Sample(f"late {number}", {"meet": [str(place), 2], "without": str(mark), "number": number})
        for number in range(20)
    ]
    result = await run_samples([*samples_doing(doing, mark), *waiting], tmp_path / "run")

    found = journalled(tmp_path / "run")
    assert result.is_finished
    assert len({trial.key for trial in found.trials}) == len(found.trials) == 41, "none is solved twice"
    assert len(found.scores) == 41
    alive = {name for name in answers(tmp_path / "run", found) if name != mark.read_text()}
    assert len(alive) == 2, "another process took its place"


@pytest.mark.parametrize("run_loop", [asyncio.run, uvloop.run])
def test_a_process_that_has_ended_is_told_as_lost_by_whatever_is_sent_to_it(
    run_loop: Callable[[Coroutine[object, object, None]], None],
) -> None:
    async def send_after_the_end() -> None:
        async with ProcessShards(shard_task.recipe(), 1).open(0, 1) as shard:
            await shard.send(encode_message(Shutdown()))
            reports: list[ShardReport] = []
            while not any(isinstance(report, FinalReport) for report in reports):
                reports += decode_reports(await shard.receive())
            with pytest.raises(ShardLost, match="ended with exit code 0"):
                await shard.receive()
            for _ in range(3):
                with pytest.raises(ShardLost, match="ended with exit code 0"):
                    await shard.send(encode_message(Shutdown()))
                await asyncio.sleep(0.01)

    run_loop(send_after_the_end())


async def test_processes_that_die_again_and_again_end_the_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"No worker process is left to run trials: it was ended by signal 9"):
        await run_samples([Sample("0", {"do": "die"})], tmp_path, workers=1, concurrency=1)


async def test_what_the_user_can_mend_ends_the_run_with_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such tool"):
        await run_samples(samples_doing("complain", tmp_path), tmp_path)


async def test_a_recipe_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the dataset is not there any more"):
        await run_samples(plain(3), tmp_path, recipe=shard_task.recipe("refuse"))


async def test_what_user_code_prints_gets_not_between_the_results(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert (await run_samples(samples_doing("print", tmp_path), tmp_path)).is_finished
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "printed by user code\n")


async def test_a_rule_stops_the_run_and_what_was_not_begun_is_left_for_later(tmp_path: Path) -> None:
    class AfterFive:
        seen = 0

        def update(self, result: WorkResult) -> str | None:
            self.seen += 1
            return "enough" if self.seen >= 10 else None

    result = await run_samples(plain(500), tmp_path, rules=[AfterFive()])
    begun = len(journalled(tmp_path).trials)
    assert result.stop_reason == "enough"
    assert 5 <= begun < 60

    assert (await run_samples(plain(500), tmp_path)).is_finished
    found = journalled(tmp_path)
    assert len({trial.key for trial in found.trials}) == len(found.trials) == 500


async def test_no_trial_waits_behind_a_long_one_while_another_process_is_free(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    long = Sample("long", {"do": "sleep", "seconds": 3, "mark": str(mark)})
    await run_samples([long, *plain(6)], tmp_path / "run", concurrency=2)
    assert [trial.sample for trial in journalled(tmp_path / "run").trials][-1] == "long"


async def test_ctrl_c_reaches_a_process_while_it_is_busy_and_it_begins_nothing_more(tmp_path: Path) -> None:
    naps = [
        Sample(str(number), {"do": "sleep", "seconds": 1.5, "mark": str(tmp_path / f"mark{number}")})
        for number in range(3)
    ]
    running = asyncio.ensure_future(run_samples(naps, tmp_path / "run", workers=1, concurrency=1))
    while not (tmp_path / "mark0").exists():
        await asyncio.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
    assert (await running).is_interrupted
    assert [trial.sample for trial in journalled(tmp_path / "run").trials] == ["0"]


async def test_a_second_ctrl_c_journals_what_is_in_flight_as_cancelled(tmp_path: Path) -> None:
    marks = [tmp_path / "mark0", tmp_path / "mark1"]
    sleepers = [Sample(str(number), {"do": "sleep", "mark": str(mark)}) for number, mark in enumerate(marks)]
    never_begun = plain(5)[2:]
    running = asyncio.ensure_future(run_samples([*sleepers, *never_begun], tmp_path / "run", concurrency=2))
    while not all(mark.exists() for mark in marks):
        await asyncio.sleep(0.01)
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.1)
    result = await running
    assert result.is_interrupted
    assert result.seconds < MAX_CANCEL_SECONDS, "nobody waits for what is cancelled already"
    cancelled = [trial for trial in journalled(tmp_path / "run").trials if trial.status is Status.CANCELLED]
    assert sorted(trial.sample for trial in cancelled) == ["0", "1"]


async def test_a_wave_ends_in_all_processes_before_the_next_begins(tmp_path: Path) -> None:
    import msgspec

    def in_two_waves(trials: list[Trial]) -> list[Trial]:
        return [msgspec.structs.replace(trial, wave=number // 20) for number, trial in enumerate(trials)]

    await run_samples(plain(40), tmp_path, arrange=in_two_waves)
    trials = journalled(tmp_path).trials
    first = [trial for trial in trials if int(trial.sample) < 20]
    second = [trial for trial in trials if int(trial.sample) >= 20]
    assert max(trial.started_at + trial.duration for trial in first) <= min(
        trial.started_at for trial in second
    )
