"""Evaluators for multiple choice: extract the letter of an answer and grade it."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.evaluators.matching import (
    LETTERS_10,
    evaluate_mcq,
    extract_mcq_answer,
)

__all__ = [
    "LETTERS_10",
    "evaluate_mcq",
    "extract_mcq_answer",
]
