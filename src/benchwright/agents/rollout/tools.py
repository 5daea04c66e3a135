"""Functions for agents with tools: parse tool calls, run tool calls, build the messages with results.

The module also has the exceptions that users' agents can import.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from benchwright.records import Message


class OsmosisRolloutError(Exception):
    """Base class of the exceptions in this module."""


class OsmosisTransportError(OsmosisRolloutError):
    """Raised for a network failure."""


class OsmosisTimeoutError(OsmosisRolloutError):
    """Raised for an operation that exceeded its time limit."""


class _HttpError(OsmosisRolloutError):
    def __init__(self, message: str, status_code: int) -> None:
        super().__init__(message)
        self.status_code = status_code


class OsmosisServerError(_HttpError):
    """Raised for a server failure (HTTP 5xx). The same request may succeed later."""


class OsmosisValidationError(_HttpError):
    """Raised for a rejected request (HTTP 4xx). The same request would be rejected again."""


class AgentLoopNotFoundError(OsmosisRolloutError):
    """Raised for an unknown agent loop."""

    def __init__(self, name: str, available: list[str]) -> None:
        super().__init__(f"Agent loop '{name}' not found. Available: {available}")
        self.name = name
        self.available = available


class ToolExecutionError(OsmosisRolloutError):
    """Raised for a tool that failed. `tool_call_id` and `tool_name` are empty if unknown."""

    def __init__(self, message: str, tool_call_id: str = "", tool_name: str = "") -> None:
        super().__init__(message)
        self.tool_call_id = tool_call_id
        self.tool_name = tool_name


class ToolArgumentError(ToolExecutionError):
    """Raised for tool call arguments that are not a JSON object."""


ToolCall = dict[str, Any]
"""One tool call in the OpenAI format."""


def create_tool_result(tool_call_id: str, content: str) -> Message:
    """Return the message with a tool call's result."""
    return {"role": "tool", "content": content, "tool_call_id": tool_call_id}


def create_tool_error_result(tool_call_id: str, error_message: str) -> Message:
    """Return the message that reports a failed tool call to the model."""
    return create_tool_result(tool_call_id, f"Error: {error_message}")


def serialize_tool_result(result: Any) -> str:
    """Convert a tool's result to text.

    Strings are unchanged, numbers are written as in Python, all other values as JSON.
    """
    if isinstance(result, str):
        return result
    if isinstance(result, int | float) and not isinstance(result, bool):
        return str(result)
    return json.dumps(result)


def parse_tool_arguments(arguments: str | dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool call as an object. They are given as a JSON string or as an object.

    Raises:
        ToolArgumentError: If the arguments are neither an object nor a JSON string of an object.
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
    """Return (id, name, arguments) of a tool call. A missing id is "unknown". A missing name is "".

    Raises:
        ToolArgumentError: If the arguments are not a JSON object. The error has the id and the name.
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
    """Run the tool calls of one response concurrently. Return the results in the order of the calls."""
    return list(await asyncio.gather(*(executor(tool_call) for tool_call in tool_calls)))
