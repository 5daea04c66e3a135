"""Trajectories of agents for issues: what was said and used is kept, and what was not written down is not made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.interop.foreign_kit import run_of
from tests.interop.trajectories_kit import COMMAND, MODEL, TASK, answer, mini, swe_agent, usage

from benchwright.interop.foreign_results import UnreadableResults
from benchwright.interop.result_formats import find_result_paths, format_of
from benchwright.records import Status, Usage


@pytest.mark.parametrize(("write", "name"), [(mini, "mini-swe-agent"), (swe_agent, "swe-agent")])
class TestEither:
    def test_is_recognised_as_a_folder_and_as_a_file(self, write: type, name: str, tmp_path: Path) -> None:
        folder = write(tmp_path / "out", "a__b-1", "diff")
        (file,) = folder.glob("a__b-1/*.traj*")
        for path in (folder, file):
            assert format_of(path).name == name  # type: ignore[union-attr]
        assert find_result_paths(tmp_path) == [folder]

    def test_keeps_calls_reasoning_and_answers_of_tools_in_their_places(
        self, write: type, name: str, tmp_path: Path
    ) -> None:
        _, (trial,) = run_of(write(tmp_path / "out", "a__b-1", "diff"))
        called = next(one for one in trial.messages if one.get("tool_calls"))
        after = trial.messages[trial.messages.index(called) + 1]
        assert json.loads(called["tool_calls"][0]["function"]["arguments"]) == {"command": COMMAND}
        assert called["reasoning_content"] == "Subtract."
        assert (after["role"], after["tool_call_id"]) == ("tool", "call_1")

    def test_tells_its_program_its_model_and_that_nothing_is_graded(
        self, write: type, name: str, tmp_path: Path
    ) -> None:
        run, (trial,) = run_of(write(tmp_path / "out", "a__b-1", "diff"))
        assert run.program in ("mini-SWE-agent 2.4.6", "SWE-agent 1.1.0")
        assert [one.model for one in run.targets] == [MODEL]
        assert (trial.sample, trial.answer, trial.scores) == ("a__b-1", "diff", {})
        assert "scores" in run.missing_data
        assert {one.total for one in trial.requests} == {0}

    def test_a_damaged_file_is_named(self, write: type, name: str, tmp_path: Path) -> None:
        folder = write(tmp_path / "out", "a__b-1", "diff")
        (file,) = folder.glob("a__b-1/*.traj*")
        file.write_text(file.read_text()[:-5])
        with pytest.raises(UnreadableResults, match=r"a__b-1\.traj"):
            run_of(folder)

    def test_links_are_not_followed(self, write: type, name: str, tmp_path: Path) -> None:
        other = write(tmp_path / "other", "a__b-2", "diff")
        folder = write(tmp_path / "out", "a__b-1", "diff")
        (folder / "a__b-2").symlink_to(other / "a__b-2")
        assert [trial.sample for trial in run_of(folder)[1]] == ["a__b-1"]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("Submitted", Status.ANSWERED),
        ("LimitsExceeded", Status.LIMIT),
        ("", Status.CANCELLED),
        ("AuthenticationError", Status.EXECUTION_ERROR),
    ],
)
def test_how_mini_swe_agent_ended(said: str, status: Status, tmp_path: Path) -> None:
    assert run_of(mini(tmp_path / "out", "a__b-1", "", said))[1][0].status is status


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("submitted", Status.ANSWERED),
        ("submitted (exit_cost)", Status.LIMIT),
        ("exit_context", Status.LIMIT),
        ("", Status.CANCELLED),
        ("early_exit", Status.CANCELLED),
        ("exit_api", Status.PROVIDER_ERROR),
        ("exit_environment_error", Status.EXECUTION_ERROR),
    ],
)
def test_how_swe_agent_ended(said: str, status: Status, tmp_path: Path) -> None:
    assert run_of(swe_agent(tmp_path / "out", "a__b-1", "", said))[1][0].status is status


def test_tokens_of_mini_swe_agent_are_those_of_each_answer(tmp_path: Path) -> None:
    _, (trial,) = run_of(mini(tmp_path / "out", "a__b-1", "diff"))
    assert [one.usage for one in trial.requests] == [Usage(100, 20, 60), Usage(150, 10, 0)]


def test_tokens_of_swe_agent_are_a_sum(tmp_path: Path) -> None:
    _, (trial,) = run_of(swe_agent(tmp_path / "out", "a__b-1", "diff"))
    assert [one.usage for one in trial.requests] == [Usage(250, 30)]


def test_an_answer_that_mini_swe_agent_could_not_read_is_in_its_place(tmp_path: Path) -> None:
    response = {"choices": [{"message": {"role": "assistant", "content": "ls"}}], "usage": usage(10, 1)}
    told = {"role": "user", "content": "Every response must have a call.", "extra": {"response": response}}
    _, (trial,) = run_of(mini(tmp_path / "out", "a__b-1", "diff", messages=[told, answer("", usage(20, 2))]))
    assert [one["content"] for one in trial.messages[1:4]] == [TASK, "ls", "Every response must have a call."]
    assert len(trial.requests) == 2


def test_items_of_responses_are_one_message(tmp_path: Path) -> None:
    items = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look first."}]},
        {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "call_9", "name": "bash", "arguments": '{"command": "ls"}'},
    ]
    used = {"input_tokens": 9, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 4}}
    answered = {"object": "response", "output": items, "usage": used, "extra": {"actions": []}}
    output = {"type": "function_call_output", "call_id": "call_9", "output": "calculator.py", "extra": {}}
    _, (trial,) = run_of(mini(tmp_path / "out", "a__b-1", "diff", messages=[answered, output]))
    said, observed = trial.messages[2:4]
    assert (said["content"], said["reasoning_content"]) == ("I look.", "Look first.")
    assert said["tool_calls"][0]["id"] == observed["tool_call_id"] == "call_9"
    assert [one.usage for one in trial.requests] == [Usage(9, 3, 4)]
