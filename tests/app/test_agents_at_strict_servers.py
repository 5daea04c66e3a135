"""Real agents at a server that speaks chat completions only, and checks as OpenAI, DeepSeek and Kimi do.

Each does a task of two steps with its own tools, and the server gets the user's settings in every request. It is
offered no sub-agents, and what an agent starts ends with its trial. `recipes/sightings.toml` says what was seen last.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program, trials
from tests.app.test_real_agents import finish, install, installed
from tests.strict_chat_server import AGENTS_TOOLS, strict_chat_server

from benchwright.runs.journal import read_body

__all__ = ["installed"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SERVER = ("sleep", "86173")
COMMANDS = (
    f"setsid nohup {' '.join(SERVER)} >/dev/null 2>&1 </dev/null & cat first.txt",
    "cat first.txt > second.txt",
)
"""Reads a file, beside a server that it starts in a session of its own, and writes another."""
SETTINGS = ("--temperature", "0.3", "--max-tokens", "777")
SUB_AGENTS = re.compile(r"(?i)^(task|agent|.*spawn_agent|invoke_agent|workflow|.*web_?search)$")
"""Tools that start sub-agents, or search the web on the model's server."""


@pytest.mark.parametrize(
    ("agent", "model"),
    [
        ("codex", "gpt-5.6-sol"),  # its catalogue has this one: tools come as items, in groups, as scripts
        ("codex", "sim"),
        ("gemini-cli", "sim"),
        ("claude-code", "sim"),
        ("opencode", "sim"),
        ("qwen-code", "sim"),
    ],
)
def test_an_agent_does_two_steps_with_the_settings_of_the_user(
    installed: Program, agent: str, model: str
) -> None:
    install(installed, agent)
    row = {"question": "Do two steps.", "answer": "Both are done.", "files": {"first.txt": "benchwright"}}
    installed.write("rows.jsonl", json.dumps(row) + "\n")
    with strict_chat_server(AGENTS_TOOLS, COMMANDS, "Both are done.") as server:
        ended = finish(
            installed.start(
                *("eval", "--agent", agent, "-d", "rows.jsonl", "--scorer", "exact", "--model", model),
                *("--base-url", server.base_url, *SETTINGS, "-q"),
            )
        )
    assert ended.returncode == 0, ended.stderr
    assert server.refusals == []
    assert len(server.requests) >= 3
    assert {one.get("temperature") for one in server.requests} == {0.3}
    assert {one.get("max_tokens") for one in server.requests} == {777}
    (trial,) = trials(installed.only_run)
    assert "benchwright" in str(server.requests[-1]["messages"][-3]["content"])
    given = {"temperature": 0.3, "max_tokens": 777}
    assert all(one.settings and one.settings.items() >= given.items() for one in trial.requests)
    kept = read_body(installed.only_run, trial).artifacts
    assert kept["files"]["second.txt"].strip() == "benchwright"
    assert sub_agents(server.requests) == set()
    assert servers_running() == []
    assert "sleep" in kept.get("left_running", "ended by the agent: sleep")


def test_aider_does_two_steps_by_editing(installed: Program) -> None:
    """It has no tools: it reads and edits files by the text of answers, and tells its model what does not compile."""
    install(installed, "aider")
    row = {"question": "Write made.py.", "answer": "none", "files": {"first.txt": "benchwright"}}
    installed.write("rows.jsonl", json.dumps(row) + "\n")
    said = ("made.py\n```\nword = (\n```\n", "made.py\n```\nword = 'benchwright'\n```\n")
    with strict_chat_server((), (), "Done.", said) as server:
        ended = finish(
            installed.start(
                *("eval", "--agent", "aider", "-d", "rows.jsonl", "--scorer", "exact", "--model", "sim"),
                *("--base-url", server.base_url, *SETTINGS, "-q"),
            )
        )
    assert ended.returncode == 0, ended.stderr
    assert server.refusals == []
    assert len(server.requests) == 2
    assert {(one.get("temperature"), one.get("max_tokens")) for one in server.requests} == {(0.3, 777)}
    (trial,) = trials(installed.only_run)
    made = read_body(installed.only_run, trial).artifacts["files"]["made.py"]
    assert made.strip() == "word = 'benchwright'"


def test_mini_swe_agent_does_two_steps_though_its_library_adds_fields(installed: Program) -> None:
    """LiteLLM sends a field of its own back with each answer; the server refuses it once."""
    install(installed, "mini-swe-agent")
    row = {"question": "Do two steps.", "answer": "Both are done.", "files": {"first.txt": "benchwright"}}
    installed.write("rows.jsonl", json.dumps(row) + "\n")
    commands = (*COMMANDS, "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
    with strict_chat_server(AGENTS_TOOLS, commands, "Both are done.") as server:
        ended = finish(
            installed.start(
                *("eval", "--agent", "mini-swe-agent", "-d", "rows.jsonl", "--scorer", "exact"),
                *("--model", "sim", "--base-url", server.base_url, *SETTINGS, "--no-probe", "-q"),
            )
        )
    assert ended.returncode == 0, ended.stderr
    assert server.refusals == ["unknown fields: provider_specific_fields"]
    assert len(server.answered) == 3
    assert {(one.get("temperature"), one.get("max_tokens")) for one in server.answered} == {(0.3, 777)}
    (trial,) = trials(installed.only_run)
    assert all("without:provider_specific_fields" in one.flags for one in trial.requests[1:])
    kept = read_body(installed.only_run, trial).artifacts
    assert kept["files"]["second.txt"].strip() == "benchwright"
    assert sub_agents(server.answered) == set()
    assert servers_running() == []
    assert "sleep" in kept.get("left_running", "ended by the agent: sleep")


def sub_agents(requests: list[dict[str, Any]]) -> set[str]:
    """The tools of sub-agents that were offered."""
    names = {tool["function"]["name"] for one in requests for tool in one.get("tools", ())}
    return {name for name in names if SUB_AGENTS.match(name)}


def servers_running() -> list[str]:
    """The process list, as far as it is of servers that the agents were told to start."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_text(errors="replace").split("\0")
        except OSError:
            continue
        if tuple(words[:2]) == SERVER:
            found.append(path.parent.name)
    return found
