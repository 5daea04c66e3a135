"""How answers to MATH-500 are compared: by the library math-verify, in a process that can be ended."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.catalog.matharena.boxes import last_box
from benchwright.errors import UserError

SECONDS = 20.0
"""CPU time that one answer may take. The library's own limits need signals, which end no arithmetic on large ones."""

LONGEST = 2_000
"""Characters of an answer that is compared; a longer one is unparsed."""

LIBRARY = "math-verify"
PUBLISHED = "0.9.0"
"""The version whose verdicts the protocol names."""


def library_version() -> str:
    """The installed version of the library.

    Raises:
        UserError: it is not installed; says how to get it.
    """
    try:
        return version(LIBRARY)
    except PackageNotFoundError:
        raise UserError(f"math_500 is graded by {LIBRARY}: pip install 'benchwright[math]'") from None


def load_library() -> None:
    """Import the library, and have it compare one answer, so that all of it is loaded."""
    equal(read("\\frac{1}{2}"), read("0.5"))


def grade(content: Mapping[str, Any], answer: str) -> Verdict:
    """Whether the last box holds the right answer.

    Equal texts are right without the library. It gets both as LaTeX between dollars, without which it reads nothing
    of a bare root or pair, the answer in its box, as it stands in the text, since it reads some damaged LaTeX outside
    of one only; and it gets the right answer first, as its comparison is not symmetric. What it cannot read is
    unparsed.
    """
    expected = content["answer"]
    stated = last_box(answer)
    if stated is None:
        return Verdict(None, None, expected)
    stated = stated.strip().removesuffix(".")
    if stated == expected.strip():
        return Verdict(1.0, stated, expected)
    found = read(f"\\boxed{{{stated}}}") if len(stated) <= LONGEST else []
    if not found:
        return Verdict(None, stated[:LONGEST], expected, explanation=f"{LIBRARY} cannot read this answer.")
    return Verdict(float(equal(read(expected), found)), stated, expected)


def read(text: str) -> list[Any]:
    """What the library reads from LaTeX; nothing where it reads nothing."""
    from math_verify import parse

    _quieten()
    return list(parse(f"${text}$", parsing_timeout=None))


def equal(right: list[Any], found: list[Any]) -> bool:
    """Whether the library takes one for the other."""
    from math_verify import verify

    return bool(right) and bool(verify(right, found, timeout_seconds=None))


@cache
def _quieten() -> None:
    """Lets the library say nothing of its limits, which are ours here."""
    for name in ("math_verify", "latex2sympy2_extended"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
