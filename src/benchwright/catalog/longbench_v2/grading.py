"""How LongBench v2's answers are graded."""

from __future__ import annotations

import re
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.catalog.letters import letter_verdict

_BRACKETED = re.compile(r"The correct answer is \(([A-D])\)")
_BARE = re.compile(r"The correct answer is ([A-D])")


def stated_letter(answer: str) -> str | None:
    """The letter by the official rule (pred.py): asterisks dropped, "The correct answer is (X)", else without brackets.

    The case of letters counts; the first match does.
    """
    text = answer.replace("*", "")
    found = _BRACKETED.search(text) or _BARE.search(text)
    return found[1] if found else None


def grade_stated(content: dict[str, Any], answer: str) -> Verdict:
    """Whether the stated letter is the right one."""
    return letter_verdict(stated_letter(answer), content)


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """The documented cascade of letter patterns."""
    from benchwright.catalog.documented.evaluators.matching import extract_mcq_answer

    return letter_verdict(extract_mcq_answer(answer, num_options=4), content)
