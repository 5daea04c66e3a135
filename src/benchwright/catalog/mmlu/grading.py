"""How MMLU's answers are graded."""

from __future__ import annotations

import re
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.catalog.letters import letter_verdict

_MARKUP = (
    *("**", "$\\boxed{", "}$", "\\$", "$\\text{", "$", "\\mathrm{", "\\{", "\\text", "\\(", "\\mathbf{"),
    *("{", "\\boxed"),
)
"""What simple-evals takes out of an answer before it looks for the letter, in this order."""

_ANSWER = re.compile(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?")


def stated_letter(answer: str) -> str | None:
    """The letter of the first 'Answer: X' (simple-evals, mmlu_eval.py), None if there is none."""
    for mark in _MARKUP:
        answer = answer.replace(mark, "")
    found = _ANSWER.search(answer)
    return found[1].upper() if found else None


def grade_stated(content: dict[str, Any], answer: str) -> Verdict:
    """Whether the stated letter is the right one."""
    return letter_verdict(stated_letter(answer), content, subject=content["subject"])


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """The documented cascade of letter patterns."""
    from benchwright.catalog.documented.evaluators.matching import extract_mcq_answer

    return letter_verdict(extract_mcq_answer(answer, num_options=4), content, subject=content["subject"])


def grade_next(content: dict[str, Any], answer: str) -> Verdict:
    """Whether the most probable letter is the right one."""
    return letter_verdict(answer or None, content, subject=content["subject"])
