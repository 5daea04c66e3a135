"""`agents`, and `eval --agent`: recipes listed, an agent of the user's own run, and what is not installed said."""

from __future__ import annotations

import json
from pathlib import Path

from tests.app.app_kit import Program, trials
from tests.recipes.recipe_kit import write_recipe
from tests.simulated import simulated_endpoint

from benchwright.records import Status

ASKS = "print(ask([{'role': 'user', 'content': prompt}])['content'])"


def test_agents_are_listed_with_what_is_installed(program: Program) -> None:
    found = {one["name"]: one for one in json.loads(program.run("agents", "--json").stdout)["agents"]}
    assert found["codex"]["dialect"] == "responses"
    assert found["claude-code"]["licence"].startswith("proprietary")
    assert {one["installed"] for one in found.values()} == {None}
    table = program.run("agents").stdout
    assert "mini-swe-agent" in table
    assert " yes " not in table


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
