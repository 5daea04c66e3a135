"""Evaluators for function calls in a text: parse, normalise and compare them."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.evaluators.ast_eval import (
    compare_function_calls,
    normalize_value,
    parse_function_call,
)

__all__ = [
    "compare_function_calls",
    "normalize_value",
    "parse_function_call",
]
