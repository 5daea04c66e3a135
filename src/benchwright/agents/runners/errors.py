"""The exceptions of the Python API that osmosis_ai documents.

All except `SystemicProviderError` are Benchwright's own exceptions under other names.
"""

from __future__ import annotations

from benchwright.agents.rollout_requests import ToolValidationError
from benchwright.data.errors import DatasetParseError, DatasetValidationError
from benchwright.errors import BenchwrightError, ProviderError

__all__ = [
    "DatasetParseError",
    "DatasetValidationError",
    "LocalExecutionError",
    "ProviderError",
    "SystemicProviderError",
    "ToolValidationError",
]

LocalExecutionError = BenchwrightError
"""Base class of the exceptions that osmosis_ai documents."""


class SystemicProviderError(ProviderError):
    """Raised if every further request would fail, too (wrong key, unknown model, closed port).

    Runners stop at this error. They set its `duration_ms` and `tokens` to the values of the run in which it
    was raised.
    """

    def __init__(self, message: str, *, http_status: int | None = None) -> None:
        super().__init__(message, systemic=True, http_status=http_status)
        self.duration_ms = 0.0
        self.tokens = 0


def to_documented_error(error: ProviderError) -> ProviderError:
    """Convert a failure of the endpoint into the exception, with the message, that osmosis_ai documents for it."""
    status = error.http_status
    if error.systemic:
        return SystemicProviderError(str(error), http_status=status)
    if status == 429:
        text = f"Rate limit exceeded. Try reducing dataset size with --limit. Details: {error}"
    elif status is not None and status != 200:
        text = f"LLM API error (HTTP {status}): {error}"
    else:
        text = f"Unexpected error: {error}"
    return ProviderError(text, http_status=status)
