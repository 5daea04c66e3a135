"""Grading of MRCR's answers by text similarity."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from benchwright.catalog.grading import Verdict

MAX_LENGTH_RATIO = 50
"""Maximum ratio of the lengths of response and answer. A longer response scores 0.

The similarity of a longer response could not exceed 0.04.
"""


def grade_likeness(content: dict[str, Any], answer: str) -> Verdict:
    """Return the similarity of response and answer, both without the prefix that the task requires.

    The similarity is 0 if the response lacks the prefix. As in the dataset card's code, the response is not
    stripped before its prefix is compared, and similarity is SequenceMatcher's ratio with its default
    heuristic for long texts. The computation takes milliseconds for usual answers of 1,000 to 5,000
    characters, but minutes for hostile ones.
    """
    expected, prefix = content["answer"], content["prefix"]
    if not answer.strip():
        return Verdict(None, None, expected)
    if not answer.startswith(prefix):
        why = f"The answer does not begin with {prefix}."
        return Verdict(0.0, answer, expected, details={"prefix_found": False}, explanation=why)
    ratio = similarity(answer.removeprefix(prefix), expected.removeprefix(prefix))
    why = f"Behind the prefix, {ratio:.1%} alike."
    return Verdict(ratio, answer, expected, details={"prefix_found": True}, explanation=why)


def similarity(response: str, answer: str) -> float:
    """Return the similarity of two texts by difflib: 2M / T.

    M is the number of matching characters, and T is the number of characters of both texts together.
    """
    if len(response) > MAX_LENGTH_RATIO * max(1, len(answer)):
        return 0.0
    return SequenceMatcher(None, response, answer).ratio()


def grade_documented(content: dict[str, Any], answer: str) -> Verdict:
    """Return 1 if the response is or contains the answer, else 0, as llm-benchmarker documents it.

    Case and punctuation are ignored.
    """
    from benchwright.catalog.llm_benchmarker_api.evaluators.matching import contains_match, exact_match

    expected = content["answer"]
    if not answer.strip():
        return Verdict(None, None, expected)
    return Verdict(float(exact_match(answer, expected) or contains_match(answer, expected)), answer, expected)
