"""Helpers for an agent that runs tools: reading a tool call, running it, answering it, and the errors of each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from benchwright.records import Message


class OsmosisRolloutError(Exception):
    """Base of the errors below."""


class OsmosisTransportError(OsmosisRolloutError):
    """The network failed."""


class OsmosisTimeoutError(OsmosisRolloutError):
    """An operation took longer than it may."""


class _HttpError(OsmosisRolloutError):
    def __init__(self, message: str, status_code: int) -> None:
        super().__init__(message)
        self.status_code = status_code


class OsmosisServerError(_HttpError):
    """The server failed (HTTP 5xx); the same request may succeed later."""


class OsmosisValidationError(_HttpError):
    """The server refused the request (HTTP 4xx); the same request will be refused again."""


class AgentLoopNotFoundError(OsmosisRolloutError):
    """No agent loop has this name."""

    def __init__(self, name: str, available: list[str]) -> None:
        super().__init__(f"Agent loop '{name}' not found. Available: {available}")
        self.name = name
        self.available = available


class ToolExecutionError(OsmosisRolloutError):
    """A tool failed. `tool_call_id` and `tool_name` are empty where they are not known."""

    def __init__(self, message: str, tool_call_id: str = "", tool_name: str = "") -> None:
        super().__init__(message)
        self.tool_call_id = tool_call_id
        self.tool_name = tool_name


class ToolArgumentError(ToolExecutionError):
    """The arguments of a tool call are not a JSON object."""


ToolCall = dict[str, Any]
"""One tool call in the OpenAI format."""


def create_tool_result(tool_call_id: str, content: str) -> Message:
    """The message that answers a tool call."""
    return {"role": "tool", "content": content, "tool_call_id": tool_call_id}


def create_tool_error_result(tool_call_id: str, error_message: str) -> Message:
    """The message that tells the model that its tool call failed."""
    return create_tool_result(tool_call_id, f"Error: {error_message}")


def serialize_tool_result(result: Any) -> str:
    """What a tool returned, as text: strings as they are, numbers as Python writes them, the rest as JSON."""
    if isinstance(result, str):
        return result
    if isinstance(result, int | float) and not isinstance(result, bool):
        return str(result)
    return json.dumps(result)


def parse_tool_arguments(arguments: str | dict[str, Any]) -> dict[str, Any]:
    """The arguments of a tool call, which come as a JSON string or already as an object.

    Raises:
        ToolArgumentError: they are neither.
    """
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except json.JSONDecodeError as error:
            raise ToolArgumentError(f"Invalid JSON arguments: {error}") from error
    if not isinstance(arguments, dict):
        raise ToolArgumentError(f"Arguments must be a JSON object, got {type(arguments).__name__}")
    return arguments


def get_tool_call_info(tool_call: ToolCall) -> tuple[str, str, dict[str, Any]]:
    """(id, name, arguments) of a tool call; a missing id is "unknown", a missing name empty.

    Raises:
        ToolArgumentError: the arguments are no JSON object; carries the id and the name.
    """
    tool_call_id = tool_call.get("id", "unknown")
    function = tool_call.get("function", {})
    name = function.get("name", "")
    try:
        return tool_call_id, name, parse_tool_arguments(function.get("arguments", {}))
    except ToolArgumentError as error:
        raise ToolArgumentError(str(error), tool_call_id=tool_call_id, tool_name=name) from error


async def execute_tool_calls(
    tool_calls: Sequence[ToolCall], executor: Callable[[ToolCall], Awaitable[Message]]
) -> list[Message]:
    """Runs the tool calls of one answer side by side; their results are in the order of the calls."""
    return list(await asyncio.gather(*(executor(tool_call) for tool_call in tool_calls)))
