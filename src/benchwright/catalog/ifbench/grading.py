"""Verdicts on answers to IFBench's prompts (evaluation_lib.py). The score is the loose verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.catalog.ifbench.tools import Tools, rules
from benchwright.catalog.ifeval.grading import (
    describe_verdicts,
    judge_instructions,
    response_variants,
    score_details,
)
from benchwright.catalog.ifeval.rules import Follows

TIME_LIMIT_SECONDS = 60.0
"""Time limit for grading one answer, in seconds. A few rules take time quadratic in the answer's length."""


def grade(tools: Tools, content: dict[str, Any], answer: str) -> Verdict:
    """Return 1 if each instruction is followed by at least one variant of the answer (loose verdict), else 0.

    A blank answer follows no instruction.
    """
    instructions = content["instructions"]
    followed = judge_instructions(rules(tools).follows, instructions, answer, blank=not answer.strip())
    return Verdict(
        float(all(followed.loose)),
        details=score_details(instructions, followed),
        explanation=describe_verdicts(instructions, followed.loose),
    )


def follows_loosely(tools: Tools) -> Follows:
    """Return a function that decides whether at least one variant of a response follows an instruction."""

    def follows(response: str, instruction: str, arguments: Mapping[str, Any]) -> bool:
        tried = [variant for variant in response_variants(response) if variant.strip()]
        return any(rules(tools).follows(variant, instruction, arguments) for variant in tried)

    return follows
