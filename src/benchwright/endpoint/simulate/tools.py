"""Tool calls of a simulated model: from a script, from the answer key, or invented from the tool's schema."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.endpoint.simulate.request_parsing import Message, ParsedRequest, ToolFunction
from benchwright.endpoint.simulate.settings import KeyedAnswer, ScriptedCall, Settings, ToolTurn

_DEEPEST = 8


def next_tool_calls(
    settings: Settings, entry: KeyedAnswer | None, question: ParsedRequest
) -> list[ScriptedCall]:
    """Return the calls to make in this turn. Return [] if all calls were made, or if no tools are offered."""
    if not question.tools:
        return []
    turns = _script(settings, entry, question)
    done = sum(1 for message in _since_last_user(question.messages) if message.tool_calls)
    if done >= len(turns):
        return []
    turn = turns[done]
    return turn if isinstance(turn, list) else [turn]


def last_tool_result(question: ParsedRequest) -> str | None:
    """Return the text of the last tool result after the last user message. Return None if there is none."""
    last = next(
        (message for message in reversed(question.messages) if message.role in ("tool", "user")), None
    )
    return last.text if last is not None and last.role == "tool" else None


def encode_arguments(call: ScriptedCall) -> str:
    """Return the call's arguments as JSON text."""
    return msgspec.json.encode(call.arguments).decode()


def _script(settings: Settings, entry: KeyedAnswer | None, question: ParsedRequest) -> tuple[ToolTurn, ...]:
    if entry is not None and entry.tool_calls:
        return entry.tool_calls
    if settings.tool_calls:
        return settings.tool_calls
    if settings.call_tools or question.forced_tool is not None:
        tool = _chosen(question)
        arguments = example_value(tool.parameters or {}, question.prompt)
        return (ScriptedCall(tool.name, arguments if isinstance(arguments, dict) else {}),)
    return ()


def _chosen(question: ParsedRequest) -> ToolFunction:
    named = (tool for tool in question.tools if tool.name == question.forced_tool)
    return next(named, question.tools[0])


def _since_last_user(messages: list[Message]) -> list[Message]:
    last_user = max((index for index, message in enumerate(messages) if message.role == "user"), default=-1)
    return messages[last_user + 1 :]


def example_value(schema: dict[str, Any], text: str, depth: int = 0) -> Any:
    """Return a value that conforms to a JSON schema.

    It is the first value of an enumeration, `text` for a string, and 1 for a number.
    """
    if schema.get("enum"):
        return schema["enum"][0]
    if "const" in schema or "default" in schema:
        return schema.get("const", schema.get("default"))
    for alternatives in ("anyOf", "oneOf"):
        if schema.get(alternatives):
            return example_value(schema[alternatives][0], text, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or depth > _DEEPEST:
        properties = schema.get("properties", {})
        required = schema.get("required", list(properties)) if depth <= _DEEPEST else []
        return {name: example_value(properties.get(name, {}), text, depth + 1) for name in required}
    examples: dict[Any, Any] = {"integer": 1, "number": 1, "boolean": True, "array": [], "null": None}
    return examples.get(kind, text)
