"""Documented import path of test mode: runs an agent over a dataset without scoring."""

from __future__ import annotations

from benchwright.agents.runners.test_mode import (
    LocalTestBatchResult,
    LocalTestRunner,
    LocalTestRunResult,
)

__all__ = ["LocalTestBatchResult", "LocalTestRunResult", "LocalTestRunner"]
