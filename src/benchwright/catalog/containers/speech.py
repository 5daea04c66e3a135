"""How a model gives commands and is told what came of them: by calls of a tool, or in fenced blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from benchwright.catalog.containers.bash import CommandRecord
from benchwright.endpoint.reply import Reply
from benchwright.records import Message, Record

TOOL = "bash"

SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": TOOL,
        "description": "Runs a command with bash and returns what it printed, and its exit code.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command to run."}},
            "required": ["command"],
        },
    },
}

_FENCE = re.compile(r"^```(?:bash|sh|shell|console)[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)

_ENDINGS = {
    "timeout": "it was ended at its time limit",
    "output": "it was ended because it printed too much",
    "memory": "it was ended because memory ran out",
    "disk": "the container was ended because too much was written",
    "lost": "the container has ended",
}


class Asked(Record, frozen=True):
    """A command that a model gave; `call` is the id of its tool call. With a `problem` there is nothing to run."""

    command: str
    call: str | None = None
    problem: str | None = None


def commands_of(reply: Reply) -> list[Asked]:
    """The commands of an answer in order: its tool calls, or where it has none its fenced blocks."""
    if reply.tool_calls:
        return [_of_call(call) for call in reply.tool_calls]
    return [Asked(command) for command in _fenced(reply.text)]


def told(asked: Asked, record: CommandRecord | None) -> Message:
    """The message that tells the model what came of a command."""
    text = f"Error: {asked.problem}" if record is None else observation(record)
    if asked.call is None:
        return {"role": "user", "content": text}
    return {"role": "tool", "tool_call_id": asked.call, "content": text}


def observation(record: CommandRecord) -> str:
    """What a command printed, and how it ended where that was not well."""
    output = record.output.rstrip("\n")
    ending = _ENDINGS.get(record.ended) or (f"exit code {record.exit_code}" if record.exit_code else "")
    if not ending:
        return output or "[no output]"
    return f"{output}\n[{ending}]".lstrip("\n")


def _fenced(text: str) -> Iterator[str]:
    for block in _FENCE.findall(text):
        if block.strip():
            yield block.rstrip("\n")


def _of_call(call: dict[str, Any]) -> Asked:
    function, identity = call["function"], call["id"]
    if function["name"] != TOOL:
        return Asked("", identity, f"there is no tool {function['name']!r}; there is: {TOOL}")
    try:
        arguments = msgspec.json.decode(function["arguments"] or "{}")
    except msgspec.DecodeError as error:
        return Asked("", identity, f"the arguments are no JSON: {error}")
    command = arguments.get("command") if isinstance(arguments, dict) else None
    if not isinstance(command, str):
        return Asked("", identity, 'the arguments must be {"command": "…"}')
    return Asked(command, identity)
