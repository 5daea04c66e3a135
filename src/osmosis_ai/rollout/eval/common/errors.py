"""The exceptions of local runs."""

from __future__ import annotations

from benchwright.agents.runners.errors import (
    DatasetParseError,
    DatasetValidationError,
    LocalExecutionError,
    ProviderError,
    SystemicProviderError,
    ToolValidationError,
)

__all__ = [
    "DatasetParseError",
    "DatasetValidationError",
    "LocalExecutionError",
    "ProviderError",
    "SystemicProviderError",
    "ToolValidationError",
]
