"""How answers to MathArena's problems are compared: by value, lists in any order."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.catalog.matharena.boxes import last_integer
from benchwright.catalog.matharena.expressions import LONGEST, is_plain, letters_in, value_of
from benchwright.catalog.matharena.reading import Answer, boxed_answer, read_answer
from benchwright.catalog.matharena.values import NoValue, Value
from benchwright.engine.offload import offload

SECONDS = 20.0
"""How long one answer may take; nothing that is known takes more than a few milliseconds."""

TOLERANCE = 1e-10
"""Absolute and relative, where a number is not exact (parser.py, check_answers)."""

_PLACES: tuple[tuple[complex, complex], ...] = (
    (0.7310585 + 0j, 0.2861j),
    (1.9168 + 0j, 0.4177j),
    (-2.6457 + 0j, 0.1031j),
)
"""Where expressions with letters are compared: equal ones are equal everywhere, others hardly at all three."""


def grade(content: Mapping[str, Any], answer: str) -> Verdict:
    """Whether the value in the last box is that of the right answer.

    Where no box can be read, the last whole number of the text counts, as in MathArena's code; without one, the
    answer is unparsed.
    """
    expected = content["answer"]
    several = "," in expected
    stated = boxed_answer(answer, several=several)
    found = None if stated is None else readable(stated, several=several)
    if found is None:
        found = stated = last_integer(answer)
    if found is None:
        return Verdict(None, None, expected)
    return Verdict(float(equal(found, read_answer(expected, several=several))), stated, expected)


async def states_an_answer(text: str) -> bool:
    """Whether there is something in a box that can be read."""
    try:
        return await offload(boxed_value_is_readable, text, seconds=SECONDS)
    except (TimeoutError, MemoryError):
        return False


def boxed_value_is_readable(text: str) -> bool:
    """Whether the last box holds something that can be read; a number outside of one is not an answer."""
    boxed = boxed_answer(text, several=False)
    return boxed is not None and readable(boxed, several=False) is not None


def readable(stated: str, *, several: bool) -> Answer | None:
    """The answer that a text states; None where one of its expressions has no value."""
    if len(stated) > LONGEST:
        return None
    answer = read_answer(stated, several=several)
    return answer if _has_value(answer) else None


def _has_value(answer: Answer) -> bool:
    if isinstance(answer, list):
        return all(map(_has_value, answer))
    try:
        value_of(answer, dict.fromkeys(letters_in(answer), 0.5 + 0j))
    except NoValue:
        return False
    return True


def equal(found: Answer, right: Answer) -> bool:
    """Whether two answers are equal: expressions by value, lists as multisets."""
    if isinstance(found, list) and isinstance(right, list):
        left = list(found)
        for one in right:
            match = next((place for place, other in enumerate(left) if equal(other, one)), None)
            if match is None:
                return False
            del left[match]
        return not left
    if isinstance(found, list) or isinstance(right, list):
        return False
    try:
        return _equal_values(found, right)
    except (
        NoValue,
        OverflowError,
    ):  # an exact number too large for double precision, beside one that is not exact
        return False


def _equal_values(found: str, right: str) -> bool:
    letters = sorted(letters_in(found) | letters_in(right))
    if not letters:
        exact = not is_plain(right) and (not is_plain(found) or found.lstrip("+-").isdecimal())
        return same(value_of(found, {}), value_of(right, {}), exact=exact)
    for start, step in _PLACES:
        symbols: dict[str, Value] = {
            letter: start + step * (place + 1) for place, letter in enumerate(letters)
        }
        if not same(value_of(found, symbols), value_of(right, symbols)):
            return False
    return True


def same(one: Value, other: Value, *, exact: bool = False) -> bool:
    """Whether two values are equal: fractions `exact` or almost so, others within double precision."""
    if one == other:
        return True
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        if exact:
            return False
        apart = abs(one - other)
        return apart < TOLERANCE and apart < TOLERANCE * max(abs(one), abs(other))
    gap = abs(complex(one) - complex(other))
    return gap < TOLERANCE * max(abs(complex(one)), abs(complex(other)))
