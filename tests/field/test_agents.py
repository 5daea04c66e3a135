"""Agents on a real server: one with a tool, one made of MCP tools, and a program behind the relay."""

from __future__ import annotations

import shlex
import shutil
import sys

import pytest
from tests.app.app_kit import trials
from tests.environments import ROOT
from tests.field.field_kit import PRECISE, SYSTEM, Field, check_counted, requests

from benchwright.records import FAILED_STATUSES
from benchwright.runs.journal import read_body

EXAMPLES = ROOT / "examples"
SUMS = [
    {"system_prompt": SYSTEM, "user_prompt": "17 * 23", "ground_truth": "391"},
    {"system_prompt": SYSTEM, "user_prompt": "48 * 12", "ground_truth": "576"},
]
LIMITS = ("--max-tokens", "64", "--max-turns", "3", *PRECISE)


def evaluate(field: Field, *options: str) -> None:
    """Run an agent of the examples; every trial must have a result, and every request be the server's."""
    shutil.copytree(EXAMPLES, field.program.directory, dirs_exist_ok=True)
    rows = field.rows(SUMS)
    with field.log() as log:
        ended = field.run("eval", "-d", rows, *options, *LIMITS, "--eval-fn", "rewards:right_number")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    run = field.program.only_run
    assert [trial.reason for trial in trials(run) if trial.status in FAILED_STATUSES] == []
    assert len(trials(run)) == len(SUMS)
    check_counted(field, requests(run), log.requests)


def check_called(field: Field) -> None:
    """Assert that the model called the calculator in each trial, and was told a result."""
    for trial in trials(field.program.only_run):
        messages = read_body(field.program.only_run, trial).messages
        calls = [call for message in messages for call in message.get("tool_calls") or []]
        assert {call["function"]["name"] for call in calls} == {"calculate"}
        results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert results
        assert results == [call["id"] for call in calls][: len(results)]


@pytest.mark.feature("tool")
def test_an_agent_calls_its_tool(field: Field) -> None:
    evaluate(field, "-m", "agent:CalculatorAgent")
    check_called(field)


@pytest.mark.feature("mcp")
def test_a_model_calls_mcp_tools(field: Field) -> None:
    evaluate(field, "--mcp", "mcp")
    check_called(field)


@pytest.mark.feature("program")
def test_a_program_asks_through_the_relay(field: Field) -> None:
    evaluate(field, "--agent-command", shlex.join([sys.executable, "command_agent.py"]))
    assert [len(trial.requests) for trial in trials(field.program.only_run)] == [2] * len(SUMS)
