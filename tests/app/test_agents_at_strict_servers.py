"""Real agents at a server that speaks chat completions only, and checks as OpenAI, DeepSeek and Kimi do.

Each does a task of two steps with its own tools, and the server gets the user's settings in every request.
"""

from __future__ import annotations

import json

import pytest
from tests.app.app_kit import Program, trials
from tests.app.test_real_agents import finish, install, installed
from tests.strict_chat_server import Tool, strict_chat_server

from benchwright.runs.journal import read_body

__all__ = ["installed"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TOOLS = (
    Tool("exec_command", "cmd"),
    Tool("functions__exec", "input", "text(await tools.exec_command({cmd: COMMAND}));"),
    Tool("run_shell_command", "command"),
    Tool("Bash", "command"),
    Tool("bash", "command"),
)
COMMANDS = ("echo benchwright > first.txt", "cat first.txt > second.txt")


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
    installed.write(
        "rows.jsonl", json.dumps({"question": "Do two steps.", "answer": "Both are done."}) + "\n"
    )
    with strict_chat_server(TOOLS, COMMANDS, "Both are done.") as server:
        ended = finish(
            installed.start(
                *("eval", "--agent", agent, "-d", "rows.jsonl", "--scorer", "exact", "--model", model),
                *("--base-url", server.base_url, "--temperature", "0", "--max-tokens", "777", "-q"),
            )
        )
    assert ended.returncode == 0, ended.stderr
    assert server.refusals == []
    assert len(server.requests) >= 3
    assert {one.get("temperature") for one in server.requests} == {0}
    assert {one.get("max_tokens") for one in server.requests} == {777}
    (trial,) = trials(installed.only_run)
    given = {"temperature": 0, "max_tokens": 777}
    assert all(one.settings and one.settings.items() >= given.items() for one in trial.requests)
    files = read_body(installed.only_run, trial).artifacts["files"]
    assert files["second.txt"].strip() == "benchwright"
