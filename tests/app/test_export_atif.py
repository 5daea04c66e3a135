"""`export --format atif`: a trajectory for each trial, in the shape that Harbor's validator asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, write_run

from benchwright.analysis.export.counted_trials import CountedTrial
from benchwright.analysis.export.trajectories import trajectory_of
from benchwright.interop.atif import messages_of, requests_of
from benchwright.records import Message, RequestRecord, Status, TrialRecord, Usage
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.journal import TrialBody

AGENT = {"name": "calculator", "version": "1", "model_name": "m"}
CALL = {"id": "call-1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
CONVERSATION: list[Message] = [
    {"role": "system", "content": "You add."},
    {"role": "user", "content": "1 + 1?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "I must add."},
    {"role": "tool", "content": "2", "tool_call_id": "call-1"},
    {"role": "assistant", "content": "It is 2."},
]
REQUESTS = [
    RequestRecord("1", total=5, ttft=2, usage=Usage(100, 10, 60)),
    RequestRecord("2", turn=1, total=5, usage=Usage(120, 4)),
]


def made(messages: list[Message] = CONVERSATION) -> dict[str, Any]:
    record = TrialRecord("k", "s", "primary", Status.SCORED, scores={"right": 1.0}, requests=REQUESTS)
    return trajectory_of(
        CountedTrial("run", 0, ScoredTrial(record, {}), TrialBody("k", messages=messages)), AGENT
    )


def test_what_a_tool_answered_belongs_to_the_step_that_called_it() -> None:
    steps = made()["steps"]
    assert [(one["step_id"], one["source"]) for one in steps] == [
        (1, "system"),
        (2, "user"),
        (3, "agent"),
        (4, "agent"),
    ]
    assert steps[2]["tool_calls"] == [
        {"tool_call_id": "call-1", "function_name": "add", "arguments": {"a": 1}}
    ]
    assert steps[2]["observation"]["results"] == [{"content": "2", "source_call_id": "call-1"}]
    assert steps[2]["reasoning_content"] == "I must add."


def test_each_step_of_the_agent_has_its_tokens_and_all_together_their_sums() -> None:
    trajectory = made()
    assert [one["metrics"]["prompt_tokens"] for one in trajectory["steps"] if "metrics" in one] == [100, 120]
    assert trajectory["final_metrics"] == {
        "total_prompt_tokens": 220,
        "total_completion_tokens": 14,
        "total_cached_tokens": 60,
        "total_steps": 4,
    }


def test_the_score_is_under_extra() -> None:
    assert made()["extra"]["scores"] == {"right": 1.0}


@pytest.mark.parametrize("arguments", ["not json", "[1]", "[" * 100_000])
def test_arguments_that_are_no_object_stay_as_they_were_written(arguments: str) -> None:
    call = {**CALL, "function": {"name": "add", "arguments": arguments}}
    (step,) = made([{"role": "assistant", "content": "", "tool_calls": [call]}])["steps"]
    assert step["tool_calls"][0]["arguments"] == {"raw": arguments}


def test_read_again_it_is_the_same_conversation() -> None:
    trajectory = made()
    messages = messages_of(trajectory)
    assert [(one["role"], one["content"] or "") for one in messages] == [
        (one["role"], one["content"] or "") for one in CONVERSATION
    ]
    assert [one.usage for one in requests_of(trajectory, "t")] == [one.usage for one in REQUESTS]


def test_each_trial_has_a_file(program: Program) -> None:
    trials = [Made("a/1"), Made("a/1", repeat=1), Made("a 1", failed=Status.EXECUTION_ERROR)]
    write_run(program.home / "runs" / "run-1", trials)
    ended = program.run("export", "run-1", "--format", "atif", "-o", "out")
    assert ended.returncode == 0, ended.stderr
    found = [json.loads(one.read_text()) for one in Path(program.directory, "out").iterdir()]
    assert sorted((one["extra"]["sample"], one["extra"]["repeat"]) for one in found) == [
        ("a 1", 0),
        ("a/1", 0),
        ("a/1", 1),
    ]
    assert {one["steps"][0]["source"] for one in found} == {"user"}
