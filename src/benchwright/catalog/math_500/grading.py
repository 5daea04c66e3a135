"""Grading of MATH-500: compares answers by the package math-verify, in a process that can be killed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.catalog.matharena.boxes import find_last_box
from benchwright.errors import UserError

CPU_SECONDS = 20.0
"""Limit on the CPU time for one answer, in seconds.

math-verify's own limits are not used: they need signals, which cannot interrupt arithmetic on large numbers.
"""

MAX_ANSWER_CHARACTERS = 2_000
"""Maximum number of characters of an answer. A longer answer is unparsed."""

LIBRARY_NAME = "math-verify"
PUBLISHED_VERSION = "0.9.0"
"""The version of math-verify whose verdicts the protocol uses."""


def library_version() -> str:
    """Return the installed version of math-verify.

    Raises:
        UserError: If math-verify is not installed. The message explains how to install it.
    """
    try:
        return version(LIBRARY_NAME)
    except PackageNotFoundError:
        raise UserError(f"math_500 is graded by {LIBRARY_NAME}: pip install 'benchwright[math]'") from None


def load_library() -> None:
    """Import math-verify and compare one answer, so that all modules that math-verify needs are loaded."""
    are_equal_answers(parse_latex("\\frac{1}{2}"), parse_latex("0.5"))


def grade(content: Mapping[str, Any], answer: str) -> Verdict:
    """Return 1 if math-verify finds the content of the last box equal to the right answer, else 0.

    Equal texts are right without math-verify. math-verify gets both answers as LaTeX between dollar signs,
    because it reads no bare root or pair without them. The model's answer stays in its box, as in the model's
    text: without the box, math-verify would also read some damaged LaTeX. The right answer comes first,
    because the comparison is not symmetric. An answer that math-verify cannot read is unparsed.
    """
    expected = content["answer"]
    stated = find_last_box(answer)
    if stated is None:
        return Verdict(None, None, expected)
    stated = stated.strip().removesuffix(".")
    if stated == expected.strip():
        return Verdict(1.0, stated, expected)
    found = parse_latex(f"\\boxed{{{stated}}}") if len(stated) <= MAX_ANSWER_CHARACTERS else []
    if not found:
        return Verdict(
            None,
            stated[:MAX_ANSWER_CHARACTERS],
            expected,
            explanation=f"{LIBRARY_NAME} cannot read this answer.",
        )
    return Verdict(float(are_equal_answers(parse_latex(expected), found)), stated, expected)


def parse_latex(text: str) -> list[Any]:
    """Return math-verify's parse of a LaTeX text: a list, which is empty if the text cannot be parsed."""
    from math_verify import parse

    _quieten()
    return list(parse(f"${text}$", parsing_timeout=None))


def are_equal_answers(right: list[Any], found: list[Any]) -> bool:
    """Return True if math-verify considers two parsed answers equal.

    Return False if the right answer could not be parsed.
    """
    from math_verify import verify

    return bool(right) and bool(verify(right, found, timeout_seconds=None))


@cache
def _quieten() -> None:
    """Silence math-verify's warnings that its own time limits are off. Benchwright's time limits apply instead."""
    for name in ("math_verify", "latex2sympy2_extended"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
