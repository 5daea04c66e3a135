"""Documented import path of the data types of rollouts: requests, metrics and tool definitions."""

from __future__ import annotations

from benchwright.agents.rollout.types import (
    DEFAULT_MAX_METADATA_SIZE_BYTES,
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
    "OpenAIFunctionParametersSchema",
    "OpenAIFunctionPropertySchema",
    "OpenAIFunctionSchema",
    "OpenAIFunctionToolSchema",
    "RolloutMetrics",
    "RolloutRequest",
    "get_max_metadata_size_bytes",
    "set_max_metadata_size_bytes",
]
