"""Verdicts on answers to IFBench's prompts (evaluation_lib.py). The score is the loose verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.catalog.ifbench.language_tools import LanguageTools, build_rules
from benchwright.catalog.ifeval.grading import (
    describe_verdicts,
    judge_instructions,
    response_variants,
    score_details,
)
from benchwright.catalog.ifeval.rules import FollowsInstruction

TIME_LIMIT_SECONDS = 60.0
"""Time limit for grading one answer, in seconds. A few rules take time quadratic in the answer's length."""


def grade(tools: LanguageTools, content: dict[str, Any], answer: str) -> Verdict:
    """Return 1 if each instruction is followed by at least one variant of the answer (loose verdict), else 0.

    A blank answer follows no instruction.
    """
    instructions = content["instructions"]
    followed = judge_instructions(build_rules(tools).follows, instructions, answer, blank=not answer.strip())
    return Verdict(
        float(all(followed.loose_verdicts)),
        details=score_details(instructions, followed),
        explanation=describe_verdicts(instructions, followed.loose_verdicts),
    )


def make_loose_check(tools: LanguageTools) -> FollowsInstruction:
    """Return a function that decides whether at least one variant of a response follows an instruction."""

    def follows(response: str, instruction: str, arguments: Mapping[str, Any]) -> bool:
        tried = [variant for variant in response_variants(response) if variant.strip()]
        return any(build_rules(tools).follows(variant, instruction, arguments) for variant in tried)

    return follows
