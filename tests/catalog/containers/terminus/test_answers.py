"""What an answer of the model asks for, and what it is told where the answer has flaws."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchwright.catalog.containers.auditing.trajectory import steps_of
from benchwright.catalog.containers.terminus.answers import KeystrokeCommand, ParsedAnswer, read_answer


def said(*commands: Any, **fields: Any) -> str:
    return json.dumps({"analysis": "a", "plan": "p", "commands": list(commands), **fields})


def typing(keystrokes: str, duration: Any = 0.5) -> dict[str, Any]:
    return {"keystrokes": keystrokes, "duration": duration}


def test_keys_and_how_long_is_waited_after_them() -> None:
    assert read_answer(said(typing("ls\n"), typing("C-c"))) == ParsedAnswer(
        [KeystrokeCommand("ls\n", 0.5), KeystrokeCommand("C-c", 0.5)]
    )


@pytest.mark.parametrize(
    ("duration", "seconds"), [(3, 3.0), (600, 60.0), (-1, 0.0), ("soon", 1.0), (float("nan"), 1.0)]
)
def test_a_duration_is_from_0_to_60_seconds_and_1_where_it_is_no_number(
    duration: Any, seconds: float
) -> None:
    (keys,) = read_answer(said(typing("make\n", duration))).commands
    assert keys.seconds == seconds


@pytest.mark.parametrize(
    ("value", "complete"), [(True, True), (False, False), ("Yes", True), ("no", False), (None, False)]
)
def test_whether_the_task_is_complete(value: Any, complete: bool) -> None:
    assert read_answer(said(task_complete=value)).says_complete is complete


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (f"Let us see.\n{said()}", "there is text before the JSON object"),
        (f"```json\n{said()}\n```", "there is text before the JSON object"),
        (f"Not {{this}} but {said()}", "there is text before the JSON object"),
        (said()[:-1], "1 closing brace(s) were missing and have been added"),
        (said({"keystrokes": "ls\n"}), "command 1 has no `duration`; 1 s were waited"),
        (said(typing("ls") | {"enter": True}), "command 1 has unknown fields: enter"),
        (said(typing("ls"), typing("pwd\n")), "command 1 does not end with a newline"),
        (said(analysis=1), "`analysis` should be text"),
        ('{"plan": "p", "analysis": "a", "commands": []}', "should come in the order analysis, plan, commands"),
    ],
)  # fmt: skip
def test_flaws_are_told_and_the_answer_is_done_all_the_same(text: str, warning: str) -> None:
    answer = read_answer(text)
    assert not answer.error
    assert warning in "\n".join(answer.warnings)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("I am done.", "there is no JSON object"),
        ('{"analysis": "a", "plan": "p"}', "lacks required fields: commands"),
        ('{"analysis": "tab\\x"}', "the JSON is not valid"),
        ('{"a":' * 100_000, "the JSON is"),
        (said(commands="ls"), "`commands` must be a list"),
        (said("ls"), "command 1 must be an object"),
        (said({"command": "ls"}), "command 1 must have `keystrokes`"),
    ],
)
def test_an_answer_that_cannot_be_done_says_why(text: str, error: str) -> None:
    answer = read_answer(text)
    assert error in answer.error
    assert answer.commands == []


def test_a_complete_task_is_complete_whatever_is_wrong_with_its_commands() -> None:
    answer = read_answer(said("ls", task_complete=True))
    assert (answer.says_complete, answer.error, answer.warnings) == (
        True,
        "",
        ["command 1 must be an object"],
    )


def test_an_audit_reads_the_keys_as_one_command_with_what_the_screen_said() -> None:
    conversation = [
        {"role": "assistant", "content": said(typing("cat /tests/"), typing("test_outputs.py\n"))},
        {"role": "user", "content": "New output of the terminal:\nassert 1"},
    ]
    (step,) = steps_of(conversation)
    assert (step.turn, step.command) == (1, "cat /tests/test_outputs.py\n")
    assert step.output.endswith("assert 1")
