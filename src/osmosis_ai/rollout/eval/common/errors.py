"""Documented import path of the exceptions of local runs (runs on this machine, without a server)."""

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
