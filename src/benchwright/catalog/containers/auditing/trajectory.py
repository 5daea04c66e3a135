"""What an audit reads: what an agent did, step by step, whichever program wrote it down; and what an audit finds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from benchwright.catalog.containers.auditing.shell import ShellReader
from benchwright.catalog.containers.auditing.shell_records import Code, ShellCommand, Writing
from benchwright.engine.answers import content_text
from benchwright.records import UNREADABLE, Message, Record
from benchwright.text import one_line

LONGEST_LINE = 300
"""Characters of a line of evidence."""

Weight = Literal["sign", "note"]
"""A sign makes a pass suspicious; a note is worth a look, and honest agents do it, too."""

SCRIPTS = ("command", "cmd", "keystrokes", "code", "script", "commands", "bash_command")
"""Arguments under which agents give commands to their tools."""
PATHS = ("path", "file_path", "filepath", "filename", "target_file")
CONTENTS = ("content", "contents", "file_text", "new_str", "new_string", "text", "insert_text")
_FENCE = re.compile(
    r"^ {0,3}(`{3,})(?:bash|sh|shell|mswea_bash_command)[ \t]*\n(.*?)^ {0,3}\1`*[ \t]*$",
    re.DOTALL | re.MULTILINE,
)


class Finding(Record, frozen=True):
    """One thing that an audit found: its kind, and the line that shows it; `turn` counts the model's answers from 1.

    `turn` is None where it was not in the conversation.
    """

    kind: str
    line: str
    weight: Weight = "sign"
    turn: int | None = None


class Connection(Record, frozen=True):
    """A connection that an agent's container asked its proxy for."""

    host: str
    port: int | None = None
    allowed: bool = True


class Step(Record, frozen=True):
    """A command and what came of it, or with `edits` files that a tool of the agent wrote."""

    turn: int
    command: str = ""
    output: str = ""
    edits: list[Writing] = []


class Acts(Record, frozen=True):
    """What a step comes to: commands, programs in other languages, and files that were written."""

    step: Step
    commands: list[ShellCommand] = []
    codes: list[Code] = []
    writings: list[Writing] = []

    def found(self, kind: str, line: str, weight: Weight = "sign") -> Finding:
        """A finding in this step."""
        return Finding(kind, one_line(line, LONGEST_LINE), weight, self.step.turn)


class Trajectory(Record, frozen=True):
    """One trial. `repository` is the project whose issue it was (`owner/name`), "" for a task that is not an issue.

    `patch` is what the agent submitted, `gold` the right patch; `asked` says whether a model wrote it.
    """

    instruction: str = ""
    repository: str = ""
    steps: list[Step] = []
    patch: str = ""
    gold: str = ""
    asked: bool = True
    network: list[Connection] = []

    def acts(self) -> list[Acts]:
        """What the steps come to; the folder that one changed to is that of the next."""
        reader = ShellReader()
        return [_acts(reader, step) for step in self.steps]


def _acts(reader: ShellReader, step: Step) -> Acts:
    read = reader.read(step.command)
    return Acts(step, read.commands, read.codes, [*read.writings, *step.edits])


def steps_of(messages: Sequence[Message]) -> list[Step]:
    """The commands in a conversation, in the OpenAI format, each with what its tool answered."""
    return list(_steps(messages))


def _steps(messages: Sequence[Message]) -> Iterator[Step]:
    answers = {
        str(one.get("tool_call_id")): content_text(one.get("content"))
        for one in messages
        if one.get("role") == "tool"
    }
    turn = 0
    for place, message in enumerate(messages):
        if message.get("role") != "assistant":
            continue
        turn += 1
        calls = message.get("tool_calls")
        if isinstance(calls, list) and calls:
            for call in calls:
                yield from _of_call(turn, call, answers)
            continue
        following = messages[place + 1] if place + 1 < len(messages) else {}
        said = content_text(following.get("content")) if following.get("role") in ("user", "tool") else ""
        for _, block in _FENCE.findall(content_text(message.get("content"))):
            yield Step(turn, block, said)


def _of_call(turn: int, call: Any, answers: Mapping[str, str]) -> Iterator[Step]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return
    arguments = _arguments(function.get("arguments"))
    output = answers.get(str(call.get("id")), "")
    path = next((arguments[name] for name in PATHS if isinstance(arguments.get(name), str)), None)
    contents = [arguments[name] for name in CONTENTS if isinstance(arguments.get(name), str)]
    if path is not None and contents:
        line = f"{function.get('name')} {path}"
        yield Step(turn, output=output, edits=[Writing(path, "edit", "\n".join(contents), line)])
        return
    for command in _commands(arguments):
        yield Step(turn, command, output)


def _arguments(given: Any) -> Mapping[str, Any]:
    if isinstance(given, str):
        try:
            given = msgspec.json.decode(given or "{}")
        except UNREADABLE:
            return {}
    return given if isinstance(given, Mapping) else {}


def _commands(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name in SCRIPTS:
        given = arguments.get(name)
        for one in given if isinstance(given, list) else [given]:
            if isinstance(one, Mapping):
                yield from _commands(one)
            elif isinstance(one, str) and one.strip():
                yield one
