"""Documented import path of the parts that all local runs share: datasets, the model's client, the loop over rows."""

from __future__ import annotations

from benchwright.agents.rollout_requests import validate_tools
from benchwright.agents.runners.client import ExternalLLMClient
from benchwright.agents.runners.command_setup import (
    build_completion_params,
    create_llm_client,
    load_agent,
    load_dataset_rows,
)
from benchwright.agents.runners.datasets import (
    REQUIRED_COLUMNS,
    DatasetReader,
    DatasetRow,
    dataset_row_to_request,
)
from benchwright.agents.runners.errors import (
    DatasetParseError,
    DatasetValidationError,
    LocalExecutionError,
    ProviderError,
    ToolValidationError,
)
from benchwright.agents.runners.reports import format_duration, format_tokens
from benchwright.agents.runners.rollouts import (
    LocalBatchResult,
    LocalLLMClientProtocol,
    LocalRolloutRunner,
    LocalRunResult,
)

__all__ = [
    "REQUIRED_COLUMNS",
    "DatasetParseError",
    "DatasetReader",
    "DatasetRow",
    "DatasetValidationError",
    "ExternalLLMClient",
    "LocalBatchResult",
    "LocalExecutionError",
    "LocalLLMClientProtocol",
    "LocalRolloutRunner",
    "LocalRunResult",
    "ProviderError",
    "ToolValidationError",
    "build_completion_params",
    "create_llm_client",
    "dataset_row_to_request",
    "format_duration",
    "format_tokens",
    "load_agent",
    "load_dataset_rows",
    "validate_tools",
]
