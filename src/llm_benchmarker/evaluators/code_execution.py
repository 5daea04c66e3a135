"""Evaluator that runs model-written Python code in a sandbox."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.evaluators.code_execution import (
    execute_python,
    run_humaneval_test,
)

__all__ = [
    "execute_python",
    "run_humaneval_test",
]
