"""Grading of LongBench v2's answers by their letter."""

from __future__ import annotations

import re
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.catalog.multiple_choice import letter_verdict

_BRACKETED = re.compile(r"The correct answer is \(([A-D])\)")
_BARE = re.compile(r"The correct answer is ([A-D])")


def stated_letter(answer: str) -> str | None:
    """Return the letter that the official rule (pred.py) finds in an answer. Return None if it finds no letter.

    Asterisks are dropped. "The correct answer is (X)" is searched first, then the same words without
    brackets. Case matters, and the first match counts.
    """
    text = answer.replace("*", "")
    found = _BRACKETED.search(text) or _BARE.search(text)
    return found[1] if found else None


def grade_stated(content: dict[str, Any], answer: str) -> Verdict:
    """Return 1 if the stated letter is the right one, else 0.

    An answer that states no letter is unparsed.
    """
    return letter_verdict(stated_letter(answer), content)


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """Grade the letter by the cascade of patterns that llm-benchmarker documents."""
    from benchwright.catalog.llm_benchmarker_api.evaluators.matching import extract_mcq_answer

    return letter_verdict(extract_mcq_answer(answer, num_options=4), content)
