"""How MRCR's answers are graded."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from benchwright.catalog.grading import Verdict

TIMES_TOO_LONG = 50
"""A response so many times as long as the answer is scored 0: no likeness could bring it above 0.04."""


def grade_likeness(content: dict[str, Any], answer: str) -> Verdict:
    """Likeness of the response and the answer, both without the prefix; 0 where the response lacks it.

    By the dataset card's arithmetic: nothing is stripped before the prefix is looked for, and likeness is
    SequenceMatcher's ratio with its default heuristic for long texts. Takes milliseconds for usual answers
    of 1,000 to 5,000 characters, but minutes for hostile ones.
    """
    expected, prefix = content["answer"], content["prefix"]
    if not answer.strip():
        return Verdict(None, None, expected)
    if not answer.startswith(prefix):
        why = f"The answer does not begin with {prefix}."
        return Verdict(0.0, answer, expected, details={"prefix_found": False}, explanation=why)
    ratio = likeness(answer.removeprefix(prefix), expected.removeprefix(prefix))
    why = f"Behind the prefix, {ratio:.1%} alike."
    return Verdict(ratio, answer, expected, details={"prefix_found": True}, explanation=why)


def likeness(response: str, answer: str) -> float:
    """2M / T, where M characters match out of T in both texts (difflib)."""
    if len(response) > TIMES_TOO_LONG * max(1, len(answer)):
        return 0.0
    return SequenceMatcher(None, response, answer).ratio()


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """Whether the answer is the response, or found in it, without regard to case and punctuation."""
    from benchwright.catalog.documented.evaluators.matching import contains_match, exact_match

    expected = content["answer"]
    if not answer.strip():
        return Verdict(None, None, expected)
    return Verdict(float(exact_match(answer, expected) or contains_match(answer, expected)), answer, expected)
