"""How a model gives commands and is told what came of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.containers.work_kit import called, calls, fenced, says

from benchwright.catalog.containers.bash_session import CommandRecord
from benchwright.catalog.containers.command_messages import ParsedCommand, parse_commands, result_messages
from benchwright.endpoint.reply import Reply


def given_in(text: str) -> list[str]:
    return [asked.command for asked in parse_commands(says(text))]


def test_every_call_of_an_answer_is_a_command_in_order() -> None:
    assert parse_commands(calls("ls", "cd /\npwd")) == [
        ParsedCommand("ls", "call_0"),
        ParsedCommand("cd /\npwd", "call_1"),
    ]


def test_every_fenced_block_of_a_shell_is_a_command_in_order() -> None:
    text = "First:\n```bash\nls -la\n```\nand then\n```sh\ncd /\npwd\n```\n```Shell  \nexit\n```"
    assert given_in(text) == ["ls -la", "cd /\npwd", "exit"]


@pytest.mark.parametrize(
    "text",
    [
        "```\nls\n```",
        "```python\nprint(1)\n```",
        "```console\n$ ls\nfile\n```",
        "```bash\n\n```",
        "```bash\nls",
        "use ```bash ls``` to look",
        "    ```bash\n    ls\n    ```",
        "All is done.",
        "",
    ],
    ids=["no language", "another language", "console", "empty", "open", "inline", "code", "words", "nothing"],
)
def test_what_is_no_block_of_a_shell_is_no_command(text: str) -> None:
    assert given_in(text) == []


def test_a_longer_fence_holds_shorter_ones() -> None:
    text = "````bash\ncat > README.md <<'END'\n```sh\nmake\n```\nEND\n````"
    assert given_in(text) == ["cat > README.md <<'END'\n```sh\nmake\n```\nEND"]


def test_blocks_beside_calls_are_words() -> None:
    reply = Reply({}, text="```bash\nrm -rf /\n```", tool_calls=calls("ls").tool_calls)
    assert [asked.command for asked in parse_commands(reply)] == ["ls"]


def test_blocks_are_words_where_they_are_not_asked_for() -> None:
    assert parse_commands(fenced("ls"), fences=False) == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("ls -la", "the arguments are not valid JSON"),
        ('{"command": "ls"', "the arguments are not valid JSON"),
        ("[" * 100_000, "the arguments are not valid JSON"),
        ('"ls"', 'the arguments must be {"command": "…"}'),
        ("{}", 'the arguments must be {"command": "…"}'),
        ('{"command": ["ls"]}', 'the arguments must be {"command": "…"}'),
    ],
)
def test_arguments_that_are_no_command_are_told_to_the_model(arguments: str, problem: str) -> None:
    (asked,) = parse_commands(called(arguments))
    (message,) = result_messages([(asked, None)])
    assert message["role"] == "tool"
    assert message["content"].startswith(f"Error: {problem}")


def test_an_unknown_tool_is_told_to_the_model() -> None:
    (asked,) = parse_commands(called("{}", name="python"))
    assert result_messages([(asked, None)]) == [
        {
            "role": "tool",
            "tool_call_id": "call_0",
            "content": "Error: there is no tool 'python'; there is: bash",
        }
    ]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (CommandRecord("x", "a\nb\n\n", 0), "a\nb"),
        (CommandRecord("x", "", 0), "[no output]"),
        (CommandRecord("x", "no\n", 2), "no\n[exit code 2]"),
        (CommandRecord("x", "", 1), "[exit code 1]"),
        (CommandRecord("x", "begun\n", 124, "timeout", 60.2), "begun\n[ended after 60 s, at its time limit]"),
        (CommandRecord("x", "", 137, "memory"), "[ended because memory ran out]"),
        (CommandRecord("x", "y\ny", None, "output"), "y\ny\n[ended because it printed too much]"),
    ],
)
def test_the_model_is_told_what_was_printed_and_how_it_ended(record: CommandRecord, said: str) -> None:
    assert result_messages([(ParsedCommand("x", "call_0"), record)]) == [
        {"role": "tool", "tool_call_id": "call_0", "content": said}
    ]


def test_every_call_gets_an_answer_of_its_own() -> None:
    results = [(asked, CommandRecord("x", asked.command, 0)) for asked in parse_commands(calls("one", "two"))]
    assert [(message["tool_call_id"], message["content"]) for message in result_messages(results)] == [
        ("call_0", "one"),
        ("call_1", "two"),
    ]


def test_all_blocks_get_one_answer() -> None:
    results = [
        (asked, CommandRecord("x", asked.command, 0)) for asked in parse_commands(fenced("one", "two"))
    ]
    assert result_messages(results) == [{"role": "user", "content": "Command 1:\none\n\nCommand 2:\ntwo"}]
    assert result_messages(results[:1]) == [{"role": "user", "content": "one"}]


any_text = st.text(st.characters() | st.sampled_from("`\n #\ud800\0"))


@given(any_text)
def test_no_text_of_a_model_is_too_strange(text: str) -> None:
    for asked in parse_commands(says(text)):
        assert asked.command in text
        assert asked.command.strip()


@given(
    any_text
    | st.recursive(st.none() | st.text() | st.floats(), lambda parts: st.lists(parts)).map(json.dumps)
)
def test_no_arguments_of_a_model_are_too_strange(arguments: str) -> None:
    (asked,) = parse_commands(called(arguments))
    assert asked.problem is not None or json.loads(arguments)["command"] == asked.command


@given(command=st.text(), output=st.text(), exit_code=st.none() | st.integers(0, 255))
def test_every_command_is_answered(command: str, output: str, exit_code: Any) -> None:
    (message,) = result_messages([(ParsedCommand(command), CommandRecord(command, output, exit_code))])
    assert message["content"]
