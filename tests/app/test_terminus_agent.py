"""`run --agent terminus`: our own agent after the protocol of Terminus 2, in a container that has no tmux."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.app.app_kit import Program, scores, trials
from tests.catalog.containers.running import says
from tests.catalog.containers.terminus.terminus_kit import types
from tests.catalog.containers.workshop import workshop
from tests.catalog.terminal_bench.terminal_kit import HELLO, SOLVE_HELLO, write_harbor
from tests.sandbox.docker.conftest import running_engine
from tests.simulated import simulated_endpoint

from benchwright.records import Status
from benchwright.runs.journal import read_body
from benchwright.runs.manifest import read_manifest

__all__ = ["running_engine", "workshop"]

DONE = types(complete=True).text


@pytest.mark.slow
@pytest.mark.usefixtures("running_engine", "workshop")
@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux on this machine")
class TestInAContainer:
    def solved(self, program: Program, folder: Path, *options: str) -> None:
        script = says(HELLO, types(f"{SOLVE_HELLO}\n").text, DONE, DONE)
        root = write_harbor(folder / "tasks").parent
        with simulated_endpoint("--policy=refusal", scripts=[script]) as base_url:
            asked = ("--agent", "terminus", "--model", "m", "--base-url", base_url)
            ended = program.run("run", "terminal_bench", "--option", f"path={root}", *asked, *options)
        assert ended.returncode == 0, ended.stderr

    def test_solves_a_task_by_what_it_types(self, program: Program, tmp_path: Path) -> None:
        self.solved(program, tmp_path)
        (trial,) = trials(program.only_run)
        (score,) = scores(program.only_run)
        assert (trial.status, score.value, len(trial.requests)) == (Status.ANSWERED, 1.0, 3)
        artifacts = read_body(program.only_run, trial).artifacts
        assert artifacts["agent"] == "terminus 1"
        assert [one["command"] for one in artifacts["commands"]] == [f"{SOLVE_HELLO}\n"]
        assert (
            f"$ {SOLVE_HELLO}" in program.run("show", program.only_run.name, "--sample", "hello-world").stdout
        )

    def test_its_departures_are_told(self, program: Program, tmp_path: Path) -> None:
        self.solved(program, tmp_path, "--option", "max_turns=5")
        told = read_manifest(program.only_run).about["departures"]
        assert "the agent terminus 1 in place of our own" in told
        assert any(one.startswith("Terminus is our own agent after the protocol") for one in told)
        assert "Terminus has 5 turns, Terminus 2 as many as it likes within its time" in told


def test_works_in_containers_only(program: Program) -> None:
    program.write("rows.jsonl", json.dumps({"question": "Hello", "answer": "Hello"}))
    ended = program.run(
        "eval", "--agent", "terminus", "-d", "rows.jsonl", "--scorer", "exact", "--model", "m"
    )
    assert ended.stderr == "Error: terminus works in the containers of a benchmark only: `benchwright run`.\n"


def test_without_tmux_on_this_machine_says_what_to_do(program: Program, tmp_path: Path) -> None:
    asked = ("--agent", "terminus", "--model", "m")
    ended = program.run("run", "terminal_bench", *asked, PATH=str(tmp_path))
    assert (
        "there is none on this machine: install it (Debian and Ubuntu: `apt-get install tmux`)"
        in ended.stderr
    )
