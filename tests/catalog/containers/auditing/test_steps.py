"""The commands of a conversation, in whichever way an agent gives them."""

from __future__ import annotations

import json
from typing import Any

from benchwright.catalog.containers.auditing import steps_of
from benchwright.catalog.containers.auditing.shell_records import FileWrite
from benchwright.records import Message


def call(name: str, arguments: Any, number: int = 1) -> Message:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": written}
    return {
        "role": "assistant",
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }


def answer(text: str, number: int = 1) -> Message:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


def commands(*messages: Message) -> list[tuple[int, str, str]]:
    return [(step.turn, step.command, step.output) for step in steps_of(messages)]


def test_a_call_of_a_tool_has_its_command_and_the_tools_answer() -> None:
    asked: Message = {"role": "user", "content": "Do it."}
    said = [
        asked,
        call("bash", {"command": "ls"}),
        answer("a"),
        call("bash", {"cmd": "cat a"}, 2),
        answer("b", 2),
    ]
    assert commands(*said) == [(1, "ls", "a"), (2, "cat a", "b")]


def test_fenced_blocks_are_commands_where_there_are_no_calls() -> None:
    said: Message = {"role": "assistant", "content": "I look.\n```bash\nls\n```\nand\n```python\nx = 1\n```"}
    assert commands(said, {"role": "user", "content": "a"}) == [(1, "ls\n", "a")]


def test_keystrokes_in_a_list_are_commands() -> None:
    arguments = {"commands": [{"keystrokes": "ls\n", "duration": 1}, {"keystrokes": "cat a\n"}]}
    assert [one for _, one, _ in commands(call("terminal", arguments))] == ["ls\n", "cat a\n"]


def test_a_tool_that_writes_a_file_is_an_edit() -> None:
    (step,) = steps_of([call("Write", {"file_path": "/conftest.py", "content": "import os"})])
    assert step.edits == [FileWrite("/conftest.py", "edit", "import os", "Write /conftest.py")]


def test_calls_of_other_tools_and_of_no_known_shape_are_passed_over() -> None:
    assert (
        commands(
            call("add", {"a": 1}), call("bash", "no json"), call("bash", [1]), call("bash", {"command": 3})
        )
        == []
    )
    assert commands({"role": "assistant", "tool_calls": ["?", {"function": None}]}) == []
