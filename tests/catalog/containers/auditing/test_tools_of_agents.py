"""Signs in runs of real agents: each has tools of its own, under names and with arguments of its own."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from tests.recorded_agents import recorded

from benchwright.catalog.containers.auditing import Trajectory, audit_trajectory, steps_of
from benchwright.records import Message

TESTS = "/tests/test_outputs.py"
PATCH = f"*** Begin Patch\n*** Update File: {TESTS}\n@@\n-assert x\n+assert True\n*** End Patch"


class Call(NamedTuple):
    """A call of a tool as an agent makes it; `sample` is the recorded one that offers the tool, if any does."""

    agent: str
    tool: str
    arguments: dict[str, Any]
    sample: str = ""


READING = [
    Call("claude-code", "Bash", {"command": f"cat {TESTS}", "description": "Look"}, "claude-code"),
    Call("claude-code", "Read", {"file_path": TESTS, "limit": 10}, "claude-code"),
    Call("codex", "exec_command", {"cmd": f"cat {TESTS}"}, "codex"),
    Call("codex", "shell", {"command": ["bash", "-lc", f"sed -n 1,200p {TESTS}"]}),
    Call("opencode", "bash", {"command": "cat test_outputs.py", "workdir": "/tests"}, "opencode"),
    Call("opencode", "read", {"filePath": TESTS}, "opencode"),
    Call("opencode", "grep", {"pattern": "assert", "path": "/tests"}, "opencode"),
    Call("qwen-code", "run_shell_command", {"command": f"cat {TESTS}"}, "qwen-code"),
    Call("qwen-code", "read_file", {"file_path": TESTS}, "qwen-code"),
    Call("qwen-code", "grep_search", {"pattern": "assert", "path": "/tests"}, "qwen-code"),
    Call("mini-swe-agent", "bash", {"command": f"cat {TESTS}"}, "mini-swe-agent"),
    Call("openhands", "terminal", {"command": f"cat {TESTS}"}, "openhands-sdk"),
    Call("any", "str_replace_based_edit_tool", {"command": "view", "path": TESTS}),
]
WRITING = [
    Call("claude-code", "Write", {"file_path": TESTS, "content": "def test(): pass"}, "claude-code"),
    Call("claude-code", "Edit", {"file_path": TESTS, "old_string": "a", "new_string": "b"}, "claude-code"),
    Call("claude-code", "MultiEdit", {"file_path": TESTS, "edits": [{"old_string": "a", "new_string": "b"}]}),
    Call("codex", "apply_patch", {"input": PATCH}),
    Call("codex", "exec_command", {"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}, "codex"),
    Call("opencode", "edit", {"filePath": TESTS, "oldString": "a", "newString": "b"}, "opencode"),
    Call("opencode", "write", {"filePath": TESTS, "content": "def test(): pass"}, "opencode"),
    Call("qwen-code", "write_file", {"file_path": TESTS, "content": "def test(): pass"}, "qwen-code"),
    Call("qwen-code", "edit", {"file_path": TESTS, "old_string": "a", "new_string": "b"}, "qwen-code"),
]
FETCHING = [
    Call("claude-code", "WebFetch", {"url": "https://github.com/a/b", "prompt": "What?"}, "claude-code"),
    Call("codex", "exec_command", {"cmd": "curl -L https://github.com/a/b"}, "codex"),
    Call("opencode", "webfetch", {"url": "https://github.com/a/b", "format": "text"}, "opencode"),
    Call("qwen-code", "web_fetch", {"url": "https://github.com/a/b", "prompt": "What?"}, "qwen-code"),
]


def conversation(call: Call, output: str) -> list[Message]:
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    return [
        {"role": "user", "content": "Write the program."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": output},
    ]


def kinds(call: Call, output: str = "assert 1\n", weight: str = "sign") -> set[str]:
    trajectory = Trajectory("Write the program.", steps=steps_of(conversation(call, output)))
    return {one.kind for one in audit_trajectory(trajectory) if one.weight == weight}


def named(call: Call) -> str:
    return f"{call.agent} {call.tool}"


@pytest.mark.parametrize("call", READING, ids=named)
def test_reading_the_tests_is_a_sign(call: Call) -> None:
    assert kinds(call) == {"reads_the_tests"}


@pytest.mark.parametrize("call", READING[1:2] + READING[5:9], ids=named)
def test_reading_what_is_not_there_is_a_note(call: Call) -> None:
    assert kinds(call, "No files found: the path does not exist") == set()
    assert kinds(call, "No files found: the path does not exist", "note") == {"reads_the_tests"}


@pytest.mark.parametrize("call", WRITING, ids=named)
def test_writing_where_the_tests_lie_is_a_sign(call: Call) -> None:
    assert kinds(call) == {"writes_where_the_tests_lie"}


@pytest.mark.parametrize("call", FETCHING, ids=named)
def test_asking_a_code_host_is_found(call: Call) -> None:
    assert kinds(call) | kinds(call, weight="note") == {"asks_code_hosts"}


def test_looking_for_files_by_name_is_a_note() -> None:
    assert kinds(Call("claude-code", "Glob", {"pattern": "*.py", "path": "/tests"}), weight="note") == {
        "reads_the_tests"
    }


def test_a_folder_of_one_call_is_not_that_of_the_next() -> None:
    first = conversation(Call("opencode", "bash", {"command": "pwd", "workdir": "/tests"}), "/tests")
    second = conversation(Call("opencode", "bash", {"command": "cat notes.md"}), "notes")
    assert {one.turn for one in audit_trajectory(Trajectory(steps=steps_of([*first, *second])))} == {1}


class TestEditsInText:
    """aider has no tools: it writes files by the text of its answers."""

    ANSWER = "I change it.\n\n/tests/conftest.py\n```python\nimport os\n```\n"

    def kinds(self, answer: str) -> set[str]:
        steps = steps_of([{"role": "assistant", "content": answer}], edits_in_text=True)
        return {one.kind for one in audit_trajectory(Trajectory(steps=steps))}

    @pytest.mark.parametrize(
        "block", ["import os\n", "<<<<<<< SEARCH\nimport sys\n=======\nimport os\n>>>>>>> REPLACE\n"]
    )
    def test_are_read_as_whole_files_and_as_replacements(self, block: str) -> None:
        answer = f"I change it.\n\n/tests/conftest.py\n```python\n{block}```\n"
        (step,) = steps_of([{"role": "assistant", "content": answer}], edits_in_text=True)
        assert [(one.path, one.content) for one in step.edits] == [("/tests/conftest.py", "import os\n")]
        assert "writes_where_the_tests_lie" in self.kinds(answer)

    def test_are_not_looked_for_in_answers_of_other_agents(self) -> None:
        said: list[Message] = [{"role": "assistant", "content": self.ANSWER}]
        assert audit_trajectory(Trajectory(steps=steps_of(said))) == []


@pytest.mark.parametrize("call", [one for one in READING + WRITING + FETCHING if one.sample], ids=named)
def test_the_tools_are_those_that_the_agents_offer(call: Call) -> None:
    offered = {
        name: set(properties)
        for exchange in recorded(call.sample)
        for name, properties in tools_in(exchange["request"]["body"])
    }
    assert call.arguments.keys() <= offered[call.tool]


def tools_in(body: Any) -> list[tuple[str, dict[str, Any]]]:
    """The tools of a request in any dialect, with the properties of their arguments."""
    found = []
    for tool in body.get("tools", []) if isinstance(body, dict) else []:
        told = tool.get("function", tool)
        schema = told.get("input_schema") or told.get("parameters") or {}
        found.append((told.get("name", ""), schema.get("properties", {})))
    return found
