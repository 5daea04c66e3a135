"""Converts a dataset row into an agent's request, checks the agent's tools, and runs the rollout."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.rollout.types import LLMClientProtocol, OpenAIFunctionToolSchema, RolloutRequest
from benchwright.errors import ExecutionError

LOCAL_SERVER_URL = "http://local-rollout.local"
"""The `server_url` that osmosis_ai documents for a request that no server sent."""

_TOOL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


class ToolValidationError(ExecutionError):
    """Raised if an agent's tools cannot be offered to a model."""


def dataset_row_to_request(
    row: Mapping[str, Any],
    row_index: int,
    max_turns: int = 10,
    max_tokens_total: int = 4096,
    completion_params: dict[str, Any] | None = None,
    rollout_id_prefix: str = "local",
    rollout_id: str | None = None,
    metadata_overrides: Mapping[str, Any] | None = None,
) -> RolloutRequest:
    """Convert a dataset row into a request. The system and user prompts become the request's messages.

    All other columns become the request's metadata. Dates, bytes and decimals, which Parquet has, become text
    there.

    Raises:
        TypeError: If the row contains an object that cannot be JSON.
        ValueError: If the metadata is too large for a request.
    """
    prompts = ("system_prompt", "user_prompt")
    metadata = {
        "ground_truth": row["ground_truth"],
        "row_index": row_index,
        **{name: value for name, value in row.items() if name not in prompts},
        **(metadata_overrides or {}),
    }
    return RolloutRequest(
        rollout_id=rollout_id or f"{rollout_id_prefix}-{row_index}",
        server_url=LOCAL_SERVER_URL,
        messages=[
            {"role": "system", "content": row["system_prompt"]},
            {"role": "user", "content": row["user_prompt"]},
        ],
        completion_params=completion_params or {},
        max_turns=max_turns,
        max_tokens_total=max_tokens_total,
        metadata=msgspec.to_builtins(metadata),
    )


def validate_tools(tools: Sequence[OpenAIFunctionToolSchema]) -> None:
    """Check that these tools can be offered to a model.

    Raises:
        ToolValidationError: If a tool has no function, no valid name, or parameters that are not an object.
    """
    for position, tool in enumerate(tools):
        if not isinstance(tool, OpenAIFunctionToolSchema):
            raise ToolValidationError(
                f"Tool validation error: tool {position} is a {type(tool).__name__}, "
                "not an OpenAIFunctionToolSchema"
            )
        name = tool.function.name
        if not _TOOL_NAME.fullmatch(name):
            raise ToolValidationError(
                f"Tool validation error: '{name}' is not a valid tool name: "
                "letters, digits and underscores, not starting with a digit"
            )
        if tool.function.parameters.type != "object":
            raise ToolValidationError(
                f"Tool validation error: the parameters of '{name}' must have the type 'object', "
                f"not '{tool.function.parameters.type}'"
            )


DEBUG_DIRECTORY = "./local_debug"
"""Default directory for the debug events of rollouts."""


class ToolOfferingClient(LLMClientProtocol, Protocol):
    """A client of a model that offers tools with its calls."""

    def set_tools(self, tools: list[OpenAIFunctionToolSchema]) -> None:
        """Set the tools that are offered to the model with every call."""
        ...


async def run_rollout(
    agent: RolloutAgentLoop, request: RolloutRequest, llm: ToolOfferingClient, debug_dir: str | None
) -> RolloutResult:
    """Run one rollout of an agent with the agent's tools, and return the rollout's result.

    `debug_dir`: the directory for a file with the rollout's debug events; None if they are not written.

    Raises:
        ToolValidationError: If the agent's tools cannot be offered to a model.
        ExecutionError: If the agent returned something other than a `RolloutResult` with messages.
        Exception: Any error raised by the agent itself.
    """
    tools = agent.get_tools(request)
    validate_tools(tools)
    llm.set_tools(tools)
    started = time.monotonic()
    result: Any = await agent.run(
        RolloutContext(request, tools, llm, _start_time=started, _debug_dir=debug_dir)
    )
    if not isinstance(result, RolloutResult):
        raise ExecutionError(
            f"the agent '{agent.name}' returned a {type(result).__name__}; "
            "its run must return ctx.complete(...) or ctx.error(...)"
        )
    messages: Any = result.final_messages
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise ExecutionError(f"the agent '{agent.name}' must return its messages as a list of dicts")
    return result
