"""`benchwright eval --executor ray`: what travels to a cluster, what it asks of the server, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.app.app_kit import GrowingJournal, Program, finished, scores
from tests.app.benchmark_kit import knowing, only_result, write_mmlu
from tests.simulated import simulated_endpoint

from benchwright.analysis.summary_records import RunSummary
from benchwright.endpoint.simulate import read_truth
from benchwright.records import Status

pytest.importorskip("ray", reason="Ray has an environment of its own, in which tests/on_ray.py runs this")

pytestmark = pytest.mark.timeout(240)

AGENT = """
import os
from pathlib import Path

from osmosis_ai.rollout import RolloutAgentLoop
from helper import SUFFIX


class Agent(RolloutAgentLoop):
    name = "agent"

    def get_tools(self, request):
        return []

    async def run(self, ctx):
        Path({pids!r}, str(os.getpid())).touch()
        messages = list(ctx.request.messages)
        result = await ctx.chat(messages)
        return ctx.complete([*messages, {{"role": "assistant", "content": result.message["content"] + SUFFIX}}])
"""

REWARDS = """
from pathlib import Path


def exact(solution_str, ground_truth, extra_info=None):
    return float(solution_str == ground_truth + "!")


def keys_are_here(solution_str, ground_truth, extra_info=None):
    return float(Path(".env").exists())
"""

KEY = "sk-only-the-driver-knows-it"


class Project:
    """An agent of two modules and its rows; row n asks `wordn`, and so it is answered."""

    def __init__(self, program: Program, rows: int) -> None:
        self.program = program
        self._pids = program.directory / "pids"
        self._pids.mkdir()
        program.write("my_agent.py", AGENT.format(pids=str(self._pids)))
        program.write("helper.py", "SUFFIX = '!'\n")
        program.write("rewards.py", REWARDS)
        program.write(".env", f"OPENAI_API_KEY={KEY}\n")
        lines = [{"system_prompt": "s", "user_prompt": f"w{n}", "ground_truth": f"w{n}"} for n in range(rows)]
        program.write("rows.jsonl", "\n".join(map(json.dumps, lines)))

    def command(self, base_url: str, *more: str) -> list[str]:
        """The arguments of an evaluation of the agent."""
        what = ["eval", "-m", "my_agent:Agent", "-d", "rows.jsonl", "--eval-fn", "rewards:exact"]
        return [*what, "--eval-fn", "rewards:keys_are_here", "--model", "m", "--base-url", base_url, *more]

    def summary(self, base_url: str, *more: str) -> RunSummary:
        """Runs an evaluation that must end well."""
        process = self.program.start(*self.command(base_url, *more, "--json"))
        out, err = process.communicate(timeout=150)
        assert process.returncode == 0, err[-3000:]
        return msgspec.json.decode(out, type=RunSummary)

    def processes(self) -> list[int]:
        """The processes in which the agent has run and that are still there."""
        return [int(path.name) for path in self._pids.iterdir() if is_there(int(path.name))]


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def descendants(parent: int) -> list[int]:
    """The ids of the processes below a process."""
    lists = [path.read_text() for path in Path(f"/proc/{parent}/task").glob("*/children")]
    children = [int(pid) for pid in " ".join(lists).split()]
    return [*children, *(pid for child in children for pid in descendants(child))]


def all_gone(pids: list[int], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while any(map(is_there, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not any(map(is_there, pids))


class Evaluated(msgspec.Struct):
    """An evaluation of 60 rows on the cluster with at most 5 requests in flight, and the same in one process."""

    on_cluster: RunSummary
    in_one_process: RunSummary
    program: Program
    truth: Path


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory, cluster: Any) -> Iterator[Evaluated]:
    program = Program(tmp_path_factory.mktemp("project"))
    project = Project(program, 60)
    truth = program.directory / "truth.jsonl"
    with simulated_endpoint("--api-key", KEY, "--first-token", "60", "--log", str(truth)) as base_url:
        on_ray = ["--executor", "ray", "--ray-address", cluster.address]
        on_cluster = project.summary(base_url, "--batch-size", "5", *on_ray)
    with simulated_endpoint("--api-key", KEY) as base_url:
        in_one_process = project.summary(base_url, "--batch-size", "5", "--fresh")
    yield Evaluated(on_cluster, in_one_process, program, truth)
    program.end()


def test_modules_and_data_of_the_working_directory_travel(evaluated: Evaluated) -> None:
    exact, _ = evaluated.on_cluster.targets[0].scores
    assert (evaluated.on_cluster.done, exact.mean) == (60, 1.0)


def test_the_file_with_the_keys_stays_here_and_the_server_gets_the_key(evaluated: Evaluated) -> None:
    _, keys_are_here = evaluated.on_cluster.targets[0].scores
    assert keys_are_here.mean == 0.0
    _, keys_are_here = evaluated.in_one_process.targets[0].scores
    assert keys_are_here.mean == 1.0


def test_the_trials_of_a_cluster_are_those_of_one_process(evaluated: Evaluated) -> None:
    on_cluster, in_one_process = evaluated.program.runs
    assert len(finished(on_cluster)) == 60
    assert statuses(on_cluster) == statuses(in_one_process)


def statuses(run: Path) -> set[tuple[str, Status]]:
    """Keys are not the same: the two servers have ports of their own."""
    return {(trial.sample, trial.status) for trial in finished(run)}


def test_all_actors_together_keep_to_the_concurrency(evaluated: Evaluated) -> None:
    """5 do not divide by two actors: one gets two, one three."""
    requests = [one for one in read_truth(evaluated.truth) if one.path.endswith("/chat/completions")]
    changes = sorted(
        [(one.received, 1) for one in requests] + [(one.last_byte or one.received, -1) for one in requests]
    )
    in_flight, most = 0, 0
    for _, change in changes:
        in_flight += change
        most = max(most, in_flight)
    assert len(requests) == 60
    assert most == 5


def test_a_benchmark_runs_on_a_cluster_with_its_data_beside_it(program: Program, cluster: Any) -> None:
    on_ray = ["--data-dir", "data", "--executor", "ray", "--ray-address", cluster.address]
    with knowing("mmlu", write_mmlu(program, 40), accuracy=0.75) as base_url:
        process = program.start("--base-url", base_url, "--model", "m", "run", "mmlu", *on_ray)
        _, said = process.communicate(timeout=150)
    assert process.returncode == 0, said
    assert only_result(program)["accuracy"] == 0.75


def test_a_driver_that_is_killed_leaves_no_actor_and_loses_no_finished_trial(
    program: Program, cluster: Any
) -> None:
    project = Project(program, 150)
    on_ray = ["--batch-size", "6", "--executor", "ray", "--ray-address", cluster.address]
    with simulated_endpoint("--first-token", "80") as base_url:
        process = program.start(*project.command(base_url, *on_ray, "-q"))
        GrowingJournal(program).wait_for(20, process)
        actors = project.processes()
        process.kill()
        process.communicate()
        done_before = {trial.key for trial in finished(program.only_run)}
        assert actors
        assert 20 <= len(done_before) < 150
        assert all_gone(actors)

        summary = project.summary(base_url, *on_ray)
    assert (summary.state, summary.done) == ("finished", 150)
    done = [trial.key for trial in finished(program.only_run)]
    assert done_before < set(done)
    assert len(done) == len(set(done)) == 150, "no finished trial was asked again"
    assert len(scores(program.only_run)) == 300


def test_ctrl_c_on_a_ray_of_this_machine_finishes_what_is_in_flight_and_ends_ray(program: Program) -> None:
    """Ctrl-C in a terminal reaches every process of the group, the actors' too where they are in it."""
    project = Project(program, 100)
    on_ray = ["--batch-size", "4", "--executor", "ray", "--workers", "2"]
    with simulated_endpoint("--first-token", "100") as base_url:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchwright", *project.command(base_url, *on_ray)],
            cwd=program.directory,
            env=program.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        GrowingJournal(program).wait_for(12, process)
        below = descendants(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
        begun = finished(program.only_run)
        assert process.returncode == 130, said
        assert 12 <= len(begun) < 100
        assert len(scores(program.only_run)) == 2 * len(begun), "all that was begun was ended"
        assert len(below) > 3
        assert all_gone(below)

        assert project.summary(base_url, "--workers", "2").done == 100
