"""Grading of answers to MathArena's problems.

Expressions are compared by value. Lists are compared in any order, and tuples within lists in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.catalog.grading import Verdict
from benchwright.catalog.matharena.answer_parser import (
    ParsedAnswer,
    convert_to_latex,
    find_boxed_answer,
    read_answer,
)
from benchwright.catalog.matharena.boxes import find_last_integer
from benchwright.catalog.matharena.quantities import (
    MAX_EXPRESSION_CHARACTERS,
    UNEQUAL_QUANTITY,
    AnswerValue,
    are_equal_quantities,
    parse_quantity,
    parse_whole_number,
)
from benchwright.engine.offload import offload

CPU_SECONDS = 20.0
"""Limit on the CPU time for one answer, in seconds. Known answers take at most a few milliseconds."""


def grade(content: Mapping[str, Any], answer: str) -> Verdict:
    """Return 1 if the value in the last box equals the right answer, else 0.

    If no box can be read, the last whole number of the text counts, as in MathArena's code. If the text has
    no whole number either, the answer is unparsed (no score).
    """
    expected = content["answer"]
    several = "," in expected
    text = find_boxed_answer(answer, several=several)
    found = None if text is None else parse_boxed_answer(text, several=several)
    if found is None:
        text = find_last_integer(convert_to_latex(answer))
        found = None if text is None else parse_quantity(text)
    if found is None:
        return Verdict(None, None, expected)
    return Verdict(float(are_equal_answers(found, parse_right_answer(expected))), text, expected)


async def states_an_answer(text: str) -> bool:
    """Return True if the text has a box with a readable answer.

    Return False also if reading exceeds its time limit.
    """
    try:
        return await offload(boxed_value_is_readable, text, seconds=CPU_SECONDS)
    except (TimeoutError, MemoryError):
        return False


def boxed_value_is_readable(text: str) -> bool:
    """Return True if the last box contains a readable value. A number outside a box does not count."""
    boxed = find_boxed_answer(text, several=False)
    return boxed is not None and parse_boxed_answer(boxed, several=False) is not None


def parse_boxed_answer(text: str, *, several: bool) -> AnswerValue | None:
    """Return the value of a boxed text. Return None if the text cannot be read.

    `several`: more than one answer is expected. A single whole number is exact. In a list, items that cannot
    be read or have no digit are left out. A list of one item is replaced by that item.
    """
    if (number := parse_whole_number(text)) is not None:
        return number
    found = _stated(text, several)
    return found[0] if isinstance(found, list) and len(found) == 1 else found


def parse_right_answer(text: str) -> AnswerValue:
    """Return the value of the right answer. If it cannot be read, return a value that equals nothing."""
    found = _stated(text, "," in text)
    return UNEQUAL_QUANTITY if found is None else found


def _stated(text: str, several: bool) -> AnswerValue | None:
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        return None
    answer = read_answer(text, several=several)
    if answer is None or isinstance(answer, str):
        return None if answer is None else parse_quantity(answer)
    found = [(one, _valued(one)) for one in answer]
    return [value for one, value in found if value is not None and (_has_digit(one) or _is_decimal(value))]


def _has_digit(answer: ParsedAnswer) -> bool:
    return any(map(_has_digit, answer)) if isinstance(answer, list) else any(map(str.isdecimal, answer))


def _is_decimal(value: AnswerValue) -> bool:
    """Return True if the value is one quantity that is not exact.

    Python prints such a number as a decimal.
    """
    return not isinstance(value, list) and not value.is_exact


def _valued(answer: ParsedAnswer) -> AnswerValue | None:
    if isinstance(answer, list):
        return [UNEQUAL_QUANTITY if (found := _valued(one)) is None else found for one in answer]
    return parse_quantity(answer)


def are_equal_answers(found: AnswerValue, right: AnswerValue) -> bool:
    """Return True if two answers are equal.

    Expressions are compared by value. Lists are compared as multisets. Lists within lists are compared in
    their order: an answer that is a single pair equals its reverse, as in MathArena, but a pair within a list
    does not. In MathArena's own code, two lists of pairs are never equal, not even if they are the same
    (parser.py, check_answers).
    """
    if not isinstance(found, list) or not isinstance(right, list):
        return (
            not isinstance(found, list) and not isinstance(right, list) and are_equal_quantities(found, right)
        )
    left = list(found)
    for one in right:
        match = next((place for place, other in enumerate(left) if _equal_in_order(other, one)), None)
        if match is None:
            return False
        del left[match]
    return not left


def _equal_in_order(found: AnswerValue, right: AnswerValue) -> bool:
    if isinstance(found, list) and isinstance(right, list):
        return len(found) == len(right) and all(map(_equal_in_order, found, right))
    return are_equal_answers(found, right)
