"""Sets of items in text."""

from __future__ import annotations

from benchwright.catalog.documented.evaluators.matching import (
    extract_set,
    jaccard_similarity,
    set_exact_match,
)

__all__ = [
    "extract_set",
    "jaccard_similarity",
    "set_exact_match",
]
