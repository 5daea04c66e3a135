"""`agents`, and `eval --agent`: recipes listed, an agent of the user's own run, and what is not installed said."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.app.app_kit import Program, trials
from tests.catalog.containers.workshop import workshop
from tests.catalog.terminal_bench.terminal_kit import write_harbor
from tests.recipes.recipe_kit import PROGRAM, write_recipe
from tests.sandbox.docker.conftest import running_engine
from tests.simulated import simulated_endpoint

from benchwright.records import Status
from benchwright.runs.journal import read_body
from benchwright.runs.manifest import read_manifest

__all__ = ["running_engine", "workshop"]

ASKS = "print(ask([{'role': 'user', 'content': prompt}])['content'])"


def test_agents_are_listed_with_what_is_installed(program: Program) -> None:
    found = {one["name"]: one for one in json.loads(program.run("agents", "--json").stdout)["agents"]}
    assert found["codex"]["dialect"] == "responses"
    assert found["claude-code"]["licence"].startswith("proprietary")
    assert {one["installed"] for one in found.values()} == {None}
    table = program.run("agents").stdout
    assert "mini-swe-agent" in table
    assert " yes " not in table


def test_agents_are_listed_with_what_was_last_seen_to_hold(program: Program) -> None:
    found = {one["name"]: one for one in json.loads(program.run("agents", "list", "--json").stdout)["agents"]}
    assert "no sub-agents" in found["codex"]["seen"]["points"]
    assert found["codex"]["newest"] is None
    assert f"{found['codex']['version']}, {found['codex']['seen']['date']}" in program.run("agents").stdout


def test_newer_versions_are_asked_of_npm_and_pip_when_the_user_wants_them(
    program: Program, tmp_path: Path
) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text('#!/bin/sh\n[ "$1 $2 $3" = "view @openai/codex version" ] && echo 9.9.9\n')
    npm.chmod(0o755)
    path = f"{npm.parent}:{os.environ['PATH']}"
    offline = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_NO_INDEX": "1"}
    ended = program.run("agents", "list", "--latest", "--json", PATH=path, **offline)
    newest = {one["name"]: one["newest"] for one in json.loads(ended.stdout)["agents"]}
    assert newest.pop("codex") == "9.9.9"
    assert set(newest.values()) == {None}
    npm.write_text("#!/bin/sh\nexit 1\n")
    ended = program.run("agents", "list", "--latest", PATH=path, **offline)
    assert ended.stderr.startswith("npm or pip told no newest version of aider, claude-code, codex, ")
    assert len(ended.stderr.splitlines()) == 1
    assert "codex" in ended.stdout


def test_no_registry_is_asked_unless_the_user_wants_it(program: Program, tmp_path: Path) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f"#!/bin/sh\ntouch {tmp_path / 'asked'}\n")
    npm.chmod(0o755)
    program.run("agents", "list", PATH=f"{npm.parent}:{os.environ['PATH']}")
    assert not (tmp_path / "asked").exists()


def test_a_recipe_of_the_users_is_listed_and_run(program: Program, tmp_path: Path) -> None:
    write_recipe(program.home / "recipes", ASKS)
    program.write("rows.jsonl", '{"question": "Hello", "answer": "Hello"}\n')
    assert "Mine" in program.run("agents").stdout
    with simulated_endpoint() as base_url:
        options = ("-d", "rows.jsonl", "--scorer", "exact", "--model", "m", "--base-url", base_url)
        summary = json.loads(program.run("eval", "--agent", "mine", *options, "--json").stdout)
    (trial,) = trials(program.only_run)
    assert trial.status is Status.ANSWERED
    assert [request.dialect for request in trial.requests] == ["chat"]
    assert summary["name"] == "rows-mine-m"


def test_an_agent_that_is_not_installed_or_unknown_is_a_line(program: Program) -> None:
    program.write("rows.jsonl", '{"question": "Hello", "answer": "Hello"}\n')
    options = ("-d", "rows.jsonl", "--scorer", "exact", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    ended = program.run("eval", "--agent", "codex", *options)
    assert ended.stderr == "Error: Codex CLI is not installed: run `benchwright agents install codex`.\n"
    ended = program.run("eval", "--agent", "codec", *options)
    assert "There is no agent called 'codec'. Did you mean 'codex'?" in ended.stderr


def test_a_module_may_still_be_called_an_agent(program: Program) -> None:
    program.write("rows.jsonl", '{"question": "Hello", "answer": "Hello"}\n')
    ended = program.run(
        "eval", "--agent", "no_such:Agent", "-d", "rows.jsonl", "--scorer", "exact", "--model", "m"
    )
    assert "no_such" in ended.stderr
    assert "There is no agent" not in ended.stderr


def test_only_one_agent_can_be_given(program: Program) -> None:
    program.write("rows.jsonl", '{"question": "Hello", "answer": "Hello"}\n')
    options = ("-d", "rows.jsonl", "--scorer", "exact", "--model", "m")
    ended = program.run("eval", "--agent", "codex", "--agent-command", "x", *options)
    assert "Only one of --module, --mcp, --agent and --agent-command can be given." in ended.stderr


def test_what_installs_nothing_or_is_unknown_cannot_be_installed(program: Program) -> None:
    write_recipe(program.home / "recipes", ASKS)
    assert "installs nothing" in program.run("agents", "install", "mine").stderr
    assert "There is no agent called 'nobody'" in program.run("agents", "install", "nobody").stderr


def test_doctor_says_which_agents_are_not_installed(program: Program) -> None:
    findings = json.loads(program.run("doctor", "--json").stdout)["findings"]
    (finding,) = (one for one in findings if one["subject"] == "agents")
    assert finding["state"] == "missing"
    assert "claude-code" in finding["said"]
    assert finding["what_to_do"].startswith("benchwright agents install NAME")


class TestBenchmark:
    def test_without_an_agent_in_containers_says_so(self, program: Program) -> None:
        write_recipe(program.home / "recipes", ASKS)
        for benchmark in (("terminal_bench:documented",), ("swe_bench", "--option", "mode=patch")):
            ended = program.run("run", *benchmark, "--agent", "mine", "--model", "m", "--data-dir", "data")
            assert ended.returncode == 1
            assert f"no agent works on {benchmark[0]} as it is asked here" in ended.stderr

    def test_needs_an_agent_that_runs_in_containers_and_is_installed(self, program: Program) -> None:
        ended = program.run("run", "terminal_bench", "--agent", "qwen-code", "--model", "m")
        assert "Qwen Code does not run in containers" in ended.stderr
        ended = program.run("run", "terminal_bench", "--agent", "codex", "--model", "m")
        assert "run `benchwright agents install codex`" in ended.stderr

    @pytest.mark.usefixtures("running_engine", "workshop")
    def test_takes_turns_from_an_agent_that_has_had_its_share(self, program: Program, tmp_path: Path) -> None:
        files = {"agent.py": PROGRAM + "while True:\n    ask([{'role': 'user', 'content': prompt}])\n"}
        command = ["python3", "{home}/agent.py", "{prompt}"]
        write_recipe(program.home / "recipes", "", command=command, files=files)
        root = write_harbor(tmp_path / "tasks").parent
        options = ("--option", f"path={root}", "--option", "max_turns=3", "--agent", "mine", "--model", "m")
        with simulated_endpoint() as base_url:
            program.run("run", "terminal_bench", *options, "--base-url", base_url)
        (trial,) = trials(program.only_run)
        assert (trial.status, trial.reason) == (Status.LIMIT, "the trial reached its limit of 3 turns")
        assert len(trial.requests) == 3
        assert "the agent mine 1 in place of our own" in read_manifest(program.only_run).about["departures"]

    @pytest.mark.slow
    @pytest.mark.usefixtures("running_engine", "workshop")
    def test_gives_an_agent_the_way_to_its_model_and_no_real_key(
        self, program: Program, tmp_path: Path
    ) -> None:
        says = "ask([{'role': 'user', 'content': 'Hi'}])\nprint(json.dumps(dict(os.environ)))\n"
        command = ["python3", "{home}/agent.py", "{prompt}"]
        write_recipe(program.home / "recipes", "", command=command, files={"agent.py": PROGRAM + says})
        root = write_harbor(tmp_path / "tasks").parent
        options = ("--option", f"path={root}", "--agent", "mine", "--model", "m")
        with simulated_endpoint("--api-key", "sk-the-real-key") as base_url:
            url = ("--base-url", base_url)
            program.run("run", "terminal_bench", *options, *url, BENCHWRIGHT_API_KEY="sk-the-real-key")
        (trial,) = trials(program.only_run)
        assert [request.http_status for request in trial.requests] == [200]
        printed = read_body(program.only_run, trial).artifacts["output"]
        environment = json.loads(printed.splitlines()[-1])
        assert environment["OPENAI_BASE_URL"] == environment["ANTHROPIC_BASE_URL"] + "/v1"
        assert environment["OPENAI_MODEL"] == "m"
        assert environment["OPENAI_API_KEY"] == environment["ANTHROPIC_API_KEY"]
        assert "sk-the-real-key" not in printed
