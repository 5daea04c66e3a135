"""Documented import path of the classes from which agents are written; see `benchwright.agents.rollout`."""

from __future__ import annotations

from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.loop import RolloutAgentLoop, create_app
from benchwright.agents.rollout.tools import (
    AgentLoopNotFoundError,
    OsmosisRolloutError,
    OsmosisServerError,
    OsmosisTimeoutError,
    OsmosisTransportError,
    OsmosisValidationError,
    ToolArgumentError,
    ToolExecutionError,
    create_tool_error_result,
    create_tool_result,
    execute_tool_calls,
    get_tool_call_info,
    parse_tool_arguments,
    serialize_tool_result,
)
from benchwright.agents.rollout.types import (
    DEFAULT_MAX_METADATA_SIZE_BYTES,
    CompletionsResult,
    LLMClientProtocol,
    OpenAIFunctionParametersSchema,
    OpenAIFunctionPropertySchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
    RolloutMetrics,
    RolloutRequest,
    get_max_metadata_size_bytes,
    set_max_metadata_size_bytes,
)

__all__ = [
    "DEFAULT_MAX_METADATA_SIZE_BYTES",
    "AgentLoopNotFoundError",
    "CompletionsResult",
    "LLMClientProtocol",
    "OpenAIFunctionParametersSchema",
    "OpenAIFunctionPropertySchema",
    "OpenAIFunctionSchema",
    "OpenAIFunctionToolSchema",
    "OsmosisRolloutError",
    "OsmosisServerError",
    "OsmosisTimeoutError",
    "OsmosisTransportError",
    "OsmosisValidationError",
    "RolloutAgentLoop",
    "RolloutContext",
    "RolloutMetrics",
    "RolloutRequest",
    "RolloutResult",
    "ToolArgumentError",
    "ToolExecutionError",
    "create_app",
    "create_tool_error_result",
    "create_tool_result",
    "execute_tool_calls",
    "get_max_metadata_size_bytes",
    "get_tool_call_info",
    "parse_tool_arguments",
    "serialize_tool_result",
    "set_max_metadata_size_bytes",
]
