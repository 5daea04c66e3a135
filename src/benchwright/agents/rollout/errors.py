"""The documented exceptions of rollouts, for agents to raise and to catch."""

from __future__ import annotations


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
