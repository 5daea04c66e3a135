"""The engine on a cluster of two nodes that loses workers and a node in mid-run."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.engine.engine_kit import TARGET, journalled, run_plan
from tests.engine.shards import shard_task
from tests.engine.shards.on_ray.ray_nodes import LEAN, at_last

from benchwright.engine.plan import Plan
from benchwright.engine.run import RunResult, run
from benchwright.engine.shards import ShardedExecutor, WorkerSpec, driver, ray_shards
from benchwright.engine.worker import ScoredWork, WorkResult
from benchwright.errors import UserError
from benchwright.records import Sample, Status
from benchwright.runs.journal import Journal, read_body

pytest.importorskip("ray", reason="Ray has an environment of its own, in which tests/on_ray.py runs this")

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(autouse=True)
def small_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory travels to the cluster."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def plain(count: int) -> list[Sample]:
    return [Sample(str(number), {"number": number}) for number in range(count)]


def meeting(place: Path, processes: int, *, among: int) -> list[Sample]:
    """Samples that are answered when so many processes have met over them."""
    place.mkdir()
    return [Sample(f"{place.name}{n}", {"meet": [str(place), processes]}) for n in range(among)]


def plan_of(samples: list[Sample]) -> Plan:
    return Plan(shard_task.task_of(samples), len(samples), (TARGET,))


async def run_samples(
    samples: list[Sample],
    directory: Path,
    cluster: Any,
    *,
    workers: int = 2,
    concurrency: int = 8,
    rules: Sequence[Any] = (),
    recipe: WorkerSpec | None = None,
) -> RunResult:
    journal = Journal(directory)
    try:
        async with ray_shards(recipe or shard_task.recipe(), workers, cluster.address) as shards:
            return await run(plan_of(samples), ShardedExecutor(shards, concurrency), journal, rules)
    finally:
        journal.close()


class AfterTrials:
    """A rule that does something once, when so many trials are done; what it returns is the reason to stop."""

    def __init__(self, count: int, action: Callable[[], str | None]) -> None:
        self._left = count
        self._action = action

    def update(self, result: WorkResult) -> str | None:
        self._left -= isinstance(result, ScoredWork)
        if self._left or not isinstance(result, ScoredWork):
            return None
        return self._action()


def check_each_done_once(directory: Path, count: int) -> Counter[str]:
    """Each trial has one line and one score; returns how many trials each process answered."""
    found = journalled(directory)
    assert len({trial.key for trial in found.trials}) == len(found.trials) == count
    assert len({score.key for score in found.scores}) == len(found.scores) == count
    return Counter(read_body(directory, trial).answer for trial in found.trials)


async def test_both_nodes_work_and_their_records_are_those_of_one_process(
    tmp_path: Path, cluster: Any
) -> None:
    def records(directory: Path) -> set[object]:
        found = journalled(directory)
        return {
            (one.key, one.sample, one.target, one.status, one.repeat, one.attempt) for one in found.trials
        } | {(one.key, one.trial, one.scorer, one.value, one.status) for one in found.scores}

    samples = meeting(tmp_path / "place", 2, among=60)
    assert (await run_samples(samples, tmp_path / "cluster", cluster)).is_finished
    await run_plan(plan_of(samples), tmp_path / "one")
    assert records(tmp_path / "cluster") == records(tmp_path / "one")
    shares = check_each_done_once(tmp_path / "cluster", 60)
    assert len(shares) == 2
    assert str(os.getpid()) not in shares


async def test_an_actor_that_is_killed_costs_no_trial(tmp_path: Path, cluster: Any) -> None:
    """The rest is answered when a third process has come, which takes the place of the first or second."""
    others = meeting(tmp_path / "place", 3, among=40)
    dying = {"do": "die once", "mark": str(tmp_path / "mark"), "meet": [str(tmp_path / "place"), 2]}
    samples = [Sample("dying", dying), *others]
    assert (await run_samples(samples, tmp_path / "run", cluster)).is_finished
    check_each_done_once(tmp_path / "run", 41)


async def test_a_node_that_is_lost_costs_no_trial_and_no_waiting_for_another(
    tmp_path: Path, cluster: Any
) -> None:
    handler = signal.getsignal(signal.SIGTERM)
    lost = at_last(cluster.add_node, **LEAN)
    signal.signal(signal.SIGTERM, handler)  # Ray's would stay for the tests that follow
    at = 0.0

    def lose_it() -> None:
        nonlocal at
        at = time.monotonic()
        crash = partial(cluster.remove_node, lost, allow_graceful=False)
        asyncio.get_running_loop().run_in_executor(None, crash)

    rule = AfterTrials(30, lose_it)
    assert (await run_samples(plain(400), tmp_path / "run", cluster, workers=3, rules=[rule])).is_finished
    assert time.monotonic() - at < 40, "there is no room for a third actor any more"
    check_each_done_once(tmp_path / "run", 400)


async def test_a_rule_stops_the_cluster_and_what_was_not_begun_is_left_for_later(
    tmp_path: Path, cluster: Any
) -> None:
    rule = AfterTrials(10, lambda: "enough")
    result = await run_samples(plain(300), tmp_path / "run", cluster, rules=[rule])
    assert result.stop_reason == "enough"
    assert 10 <= len(journalled(tmp_path / "run").trials) < 60

    assert (await run_plan(plan_of(plain(300)), tmp_path / "run")).is_finished
    check_each_done_once(tmp_path / "run", 300)


async def test_a_second_ctrl_c_journals_what_is_in_flight_as_cancelled(tmp_path: Path, cluster: Any) -> None:
    mark = tmp_path / "mark"
    samples = [Sample("0", {"do": "sleep", "mark": str(mark)}), *plain(5)]
    running = asyncio.ensure_future(run_samples(samples, tmp_path / "run", cluster, concurrency=2))
    while not mark.exists():
        assert not running.done(), running.result()
        await asyncio.sleep(0.01)
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.1)
    assert (await running).is_interrupted
    cancelled = [one for one in journalled(tmp_path / "run").trials if one.status is Status.CANCELLED]
    assert [trial.sample for trial in cancelled] == ["0"]


async def test_an_actor_that_breaks_down_ends_the_run_and_says_why(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "MAX_SHARD_LOSSES", 0)  # another would break down like it
    with pytest.raises(UserError, match=r"No worker process is left .*: RuntimeError: there is no database"):
        await run_samples(plain(3), tmp_path / "run", cluster, workers=1, recipe=shard_task.recipe("broken"))


async def test_a_recipe_that_cannot_be_made_says_why(tmp_path: Path, cluster: Any) -> None:
    with pytest.raises(UserError, match="the dataset is not there any more"):
        await run_samples(plain(3), tmp_path / "run", cluster, workers=1, recipe=shard_task.recipe("refuse"))


async def test_a_cluster_that_is_not_there_is_told() -> None:
    with pytest.raises(UserError, match=r"Ray cannot be used at 127\.0\.0\.1:9"):
        async with ray_shards(shard_task.recipe(), 1, "127.0.0.1:9"):
            pass
