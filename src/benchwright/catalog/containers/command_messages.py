"""A model's commands and their results: parses tool calls or fenced blocks, and builds result messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from benchwright.catalog.containers.bash_session import CommandRecord
from benchwright.endpoint.call_arguments import ArgumentsError, read_arguments
from benchwright.endpoint.reply import Reply
from benchwright.records import Message, Record

BASH_TOOL = "bash"

BASH_TOOL_SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": BASH_TOOL,
        "description": "Runs a command with bash and returns what it printed, and its exit code.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command to run."}},
            "required": ["command"],
        },
    },
}

_FENCE = re.compile(
    r"^ {0,3}(`{3,})(?:bash|sh|shell)[ \t]*\n(.*?)^ {0,3}\1`*[ \t]*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
"""Regular expression for fenced shell blocks, which count as commands.

Blocks in other languages do not count, because they are output, files or examples. The rule is that of
mini-swe-agent.
"""

CUT_OFF_MESSAGE = "Your answer was cut off: it was too long. Give a shorter one."

_ENDINGS = {
    "timeout": "ended after {seconds:.0f} s, at its time limit",
    "output": "ended because it printed too much",
    "memory": "ended because memory ran out",
    "disk": "ended with its container because too much was written",
}


class ParsedCommand(Record, frozen=True):
    """A command from a model. `call_id`: id of its tool call. `problem`: the reason why the command is not run."""

    command: str
    call_id: str | None = None
    problem: str | None = None


def parse_commands(reply: Reply, *, fences: bool = True) -> list[ParsedCommand]:
    """Return the commands in a response, in order: those of its tool calls.

    If there is no tool call and `fences` is True, return the fenced shell blocks.
    """
    if reply.tool_calls:
        return [_of_call(call) for call in reply.tool_calls]
    return [ParsedCommand(command) for command in _fenced(reply.text)] if fences else []


def result_messages(results: Sequence[tuple[ParsedCommand, CommandRecord | None]]) -> list[Message]:
    """Build the messages with the results for the model: one per tool call, or one for all fenced blocks.

    All fenced blocks share a message, because many chat templates reject two user messages in a row.
    """
    if not results or results[0][0].call_id is None:
        said = [format_observation(record) for _, record in results if record is not None]
        numbered = [f"Command {number}:\n{text}" for number, text in enumerate(said, 1)]
        return [{"role": "user", "content": "\n\n".join(numbered if len(said) > 1 else said)}] if said else []
    return [
        {
            "role": "tool",
            "tool_call_id": asked.call_id,
            "content": f"Error: {asked.problem}" if record is None else format_observation(record),
        }
        for asked, record in results
    ]


def format_observation(record: CommandRecord) -> str:
    """Return a command's output as the model sees it.

    If the command did not succeed, its exit code or the limit that ended it is appended.
    """
    output = record.output.rstrip("\n")
    ending = f"exit code {record.exit_code}" if record.exit_code else ""
    if record.ended != "exited":
        ending = _ENDINGS[record.ended].format(seconds=record.seconds)
    if not ending:
        return output or "[no output]"
    return f"{output}\n[{ending}]".lstrip("\n")


def _fenced(text: str) -> Iterator[str]:
    for _, block in _FENCE.findall(text):
        if block.strip():
            yield block.rstrip("\n")


def _of_call(call: dict[str, Any]) -> ParsedCommand:
    function, identity = call["function"], call["id"]
    if function["name"] != BASH_TOOL:
        return ParsedCommand("", identity, f"there is no tool {function['name']!r}; there is: {BASH_TOOL}")
    try:
        command = read_arguments(function["arguments"]).get("command")
    except ArgumentsError as error:
        return ParsedCommand("", identity, f"the arguments are not valid JSON: {error}")
    except TypeError:
        command = None
    if not isinstance(command, str):
        return ParsedCommand("", identity, 'the arguments must be {"command": "…"}')
    return ParsedCommand(command, identity)
