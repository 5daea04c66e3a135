"""Test mode: an agent over a dataset without scores."""

from __future__ import annotations

from benchwright.agents.runners.test_mode import (
    LocalTestBatchResult,
    LocalTestRunner,
    LocalTestRunResult,
)

__all__ = ["LocalTestBatchResult", "LocalTestRunResult", "LocalTestRunner"]
