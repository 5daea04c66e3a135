"""Evaluators that test whether normalised texts are equal, or one contains the other."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.evaluators.matching import (
    contains_match,
    exact_match,
    normalize,
)

__all__ = [
    "contains_match",
    "exact_match",
    "normalize",
]
