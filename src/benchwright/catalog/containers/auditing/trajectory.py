"""Input and output of an audit: a trajectory (an agent's actions, step by step), and findings.

Trajectories have the same form for all agents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from benchwright.catalog.containers.auditing.shell_reader import ShellReader
from benchwright.catalog.containers.auditing.shell_records import EmbeddedProgram, FileWrite, ShellCommand
from benchwright.catalog.containers.auditing.tool_effects import effects_of_call
from benchwright.catalog.containers.auditing.written_edits import file_writes_of_answer
from benchwright.catalog.containers.terminus.answers import read_answer
from benchwright.engine.answers import content_text
from benchwright.records import Message, Record
from benchwright.text import one_line

MAX_LINE_LENGTH = 300
"""Maximum length in characters of a line of evidence."""

FindingWeight = Literal["sign", "note"]
"""Weight of a finding. A sign makes a pass suspicious. A note is worth a look: honest agents do such things, too."""

_FENCE = re.compile(
    r"^ {0,3}(`{3,})(?:bash|sh|shell|mswea_bash_command)[ \t]*\n(.*?)^ {0,3}\1`*[ \t]*$",
    re.DOTALL | re.MULTILINE,
)


class Finding(Record, frozen=True):
    """One finding of an audit: its kind, and the line of evidence.

    `weight`: "sign" if the finding makes a pass suspicious, "note" if honest agents do such things, too.
    `turn`: number of the model's response, from 1; None if the finding is not from the conversation.
    """

    kind: str
    line: str
    weight: FindingWeight = "sign"
    turn: int | None = None


class Connection(Record, frozen=True):
    """A connection that an agent's container requested from the proxy."""

    host: str
    port: int | None = None
    allowed: bool = True


class Step(Record, frozen=True):
    """One action of an agent: a command with its output, or the files that a tool wrote (`edits`).

    `folder`: the command's working directory, if it differs from the previous command's.
    """

    turn: int
    command: str = ""
    output: str = ""
    edits: list[FileWrite] = []
    folder: str = ""


class StepActions(Record, frozen=True):
    """The parsed actions of a step: shell commands, programs in other languages, and written files."""

    step: Step
    commands: list[ShellCommand] = []
    programs: list[EmbeddedProgram] = []
    file_writes: list[FileWrite] = []

    def make_finding(self, kind: str, line: str, weight: FindingWeight = "sign") -> Finding:
        """Build a finding with this step's turn."""
        return Finding(kind, one_line(line, MAX_LINE_LENGTH), weight, self.step.turn)


class Trajectory(Record, frozen=True):
    """The record of one trial that an audit searches.

    - `repository`: for an issue, its project (`owner/name`); "" for other tasks.
    - `patch`: the patch that the agent submitted. `gold_patch`: the right patch.
    - `has_conversation`: True if a model wrote the patch, so that the trial has a conversation.
    """

    instruction: str = ""
    repository: str = ""
    steps: list[Step] = []
    patch: str = ""
    gold_patch: str = ""
    has_conversation: bool = True
    connections: list[Connection] = []

    def parse_actions(self) -> list[StepActions]:
        """Return the parsed actions of each step. A change of directory carries over to later steps."""
        reader = ShellReader()
        return [_acts(reader, step) for step in self.steps]


def _acts(reader: ShellReader, step: Step) -> StepActions:
    read = (ShellReader(step.folder) if step.folder else reader).read(step.command)
    return StepActions(step, read.commands, read.programs, [*read.file_writes, *step.edits])


def steps_of(messages: Sequence[Message], *, edits_in_text: bool = False) -> list[Step]:
    """Return the commands in a conversation (OpenAI format), each with the output of its tool.

    `edits_in_text`: True if responses without tool calls contain no commands but files to write.
    """
    return list(_steps(messages, edits_in_text=edits_in_text))


def _steps(messages: Sequence[Message], *, edits_in_text: bool) -> Iterator[Step]:
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
        calls, text = message.get("tool_calls"), content_text(message.get("content"))
        if isinstance(calls, list) and calls:
            for call in calls:
                yield from _of_call(turn, call, answers)
        elif edits_in_text:
            yield Step(turn, edits=list(file_writes_of_answer(text)))
        else:
            following = messages[place + 1] if place + 1 < len(messages) else {}
            is_result = following.get("role") in ("user", "tool")
            said = content_text(following.get("content")) if is_result else ""
            yield from (Step(turn, block, said) for _, block in _FENCE.findall(text))
            if '"keystrokes"' in text and (
                typed := "".join(one.keystrokes for one in read_answer(text).commands)
            ):
                yield Step(turn, typed, said)


def _of_call(turn: int, call: Any, answers: Mapping[str, str]) -> Iterator[Step]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if isinstance(function, Mapping):
        output = answers.get(str(call.get("id")), "")
        for done in effects_of_call(str(function.get("name")), function.get("arguments")):
            yield Step(turn, done.command, output, done.edits, done.folder)
