"""Evaluators that extract sets of items from a text and compare them."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.evaluators.matching import (
    extract_set,
    jaccard_similarity,
    set_exact_match,
)

__all__ = [
    "extract_set",
    "jaccard_similarity",
    "set_exact_match",
]
