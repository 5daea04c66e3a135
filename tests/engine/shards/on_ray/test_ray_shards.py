"""Trials on a Ray of this machine, and on a cluster of two nodes that loses workers and a node in mid-run."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.engine_kit import TARGET, journalled
from tests.engine.shards import shard_task
from tests.simulated import simulated_endpoint

from benchwright.engine.journal import Journal, read_body
from benchwright.engine.plan import Plan
from benchwright.engine.run import Listener, RunResult, run
from benchwright.engine.shards import ShardedExecutor, ray_shards
from benchwright.engine.worker import Result, Scored
from benchwright.errors import UserError
from benchwright.records import Sample

pytest.importorskip("ray", reason="Ray has an environment of its own, in which tests/on_ray.py runs this")
from ray.cluster_utils import Cluster

AGENT = """
from osmosis_ai.rollout import RolloutAgentLoop
from helper import SUFFIX


class Agent(RolloutAgentLoop):
    name = "agent"

    def get_tools(self, request):
        return []

    async def run(self, ctx):
        messages = list(ctx.request.messages)
        result = await ctx.chat(messages)
        return ctx.complete([*messages, {"role": "assistant", "content": result.message["content"] + SUFFIX}])
"""

REWARDS = """
def exact(solution_str, ground_truth, extra_info=None):
    return float(solution_str == ground_truth + "!")
"""


def plain(count: int) -> list[Sample]:
    return [Sample(str(number), {"number": number}) for number in range(count)]


async def run_samples(
    samples: list[Sample], directory: Path, address: str | None, *listeners: Listener, workers: int = 2
) -> RunResult:
    plan = Plan(shard_task.task_of(samples), len(samples), (TARGET,))
    journal = Journal(directory)
    try:
        async with ray_shards(shard_task.recipe(), workers, address) as shards:
            return await run(plan, ShardedExecutor(shards, 8), journal, (), listeners)
    finally:
        journal.close()


def check_each_done_once(directory: Path, count: int) -> Counter[str]:
    """Each trial has one line and one score; returns how many trials each process answered."""
    found = journalled(directory)
    assert len({trial.key for trial in found.trials}) == len(found.trials) == count
    assert len(found.scores) == count
    return Counter(read_body(directory, trial.body[0]).answer for trial in found.trials)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two nodes of one CPU each, on this machine."""
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    yield nodes
    nodes.shutdown()


async def test_a_ray_of_this_machine_is_started_and_ended(tmp_path: Path) -> None:
    result = await run_samples(plain(40), tmp_path, None)
    assert result.finished
    assert str(os.getpid()) not in check_each_done_once(tmp_path, 40)


async def test_a_cluster_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"Ray cannot be used at 127\.0\.0\.1:9"):
        await run_samples(plain(1), tmp_path, "127.0.0.1:9")


async def test_both_nodes_work(tmp_path: Path, cluster: Cluster) -> None:
    assert (await run_samples(plain(60), tmp_path, cluster.address)).finished
    assert len(check_each_done_once(tmp_path, 60)) == 2


async def test_an_actor_that_is_killed_costs_no_trial(tmp_path: Path, cluster: Cluster) -> None:
    special = Sample("special", {"do": "die once", "mark": str(tmp_path / "mark")})
    samples = [*plain(20), special, *plain(40)[20:]]
    assert (await run_samples(samples, tmp_path / "run", cluster.address)).finished
    check_each_done_once(tmp_path / "run", 41)


def test_modules_and_data_of_the_working_directory_travel(tmp_path: Path, cluster: Cluster) -> None:
    files = {"my_agent.py": AGENT, "helper.py": "SUFFIX = '!'", "rewards.py": REWARDS}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    rows = [{"system_prompt": "s", "user_prompt": f"w{n}", "ground_truth": f"w{n}"} for n in range(20)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with simulated_endpoint() as base_url:
        command = ["eval", "-m", "my_agent:Agent", "-d", "rows.jsonl", "--eval-fn", "rewards:exact"]
        model = ["--model", "m", "--base-url", base_url, "--batch-size", "4", "--json"]
        on_ray = ["--executor", "ray", "--ray-address", cluster.address]
        ended = subprocess.run(
            [sys.executable, "-m", "benchwright", *command, *model, *on_ray],
            cwd=tmp_path,
            env={**os.environ, "BENCHWRIGHT_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            check=False,
        )
    assert ended.returncode == 0, ended.stderr[-3000:]
    summary: dict[str, Any] = json.loads(ended.stdout)
    assert summary["targets"][0]["scores"][0]["mean"] == 1.0


async def test_a_node_that_is_lost_costs_no_trial(tmp_path: Path, cluster: Cluster) -> None:
    """The last test: afterwards there is one node."""
    lost = cluster.add_node(num_cpus=1)

    class Watch:
        """Takes a node away when thirty trials are done."""

        done = 0

        def started(self, total: int, finished: int) -> None: ...

        def said(self, text: str) -> None: ...

        def ended(self) -> None: ...

        def delivered(self, result: Result) -> None:
            self.done += isinstance(result, Scored)
            if self.done == 30:
                asyncio.get_running_loop().run_in_executor(None, cluster.remove_node, lost)

    assert (await run_samples(plain(400), tmp_path, cluster.address, Watch(), workers=3)).finished
    check_each_done_once(tmp_path, 400)
