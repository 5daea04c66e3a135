"""Evaluator that verifies whether an answer follows an instruction of IFEval."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.evaluators.ifeval_rules import (
    verify_instruction,
)

__all__ = [
    "verify_instruction",
]
