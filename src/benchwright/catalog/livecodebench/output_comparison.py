"""Comparison of a program's output with a test's expected output (lcb_runner/evaluation/testing_util.py)."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation


def same_output(printed: str, expected: str) -> bool:
    """Return True if both texts have the same lines.

    Two lines are the same if they are equal without white space at both ends. They are also the same if they
    are rows of decimal numbers, separated by white space, with equal values.
    """
    own, wanted = _lines(printed), _lines(expected)
    return len(own) == len(wanted) and all(map(_same_line, own, wanted))


def same_value(returned: str | None, expected: str) -> bool:
    """Return True if two values, both given as JSON, are equal in Python, where 1 == 1.0 == True.

    Return False if `returned` is None.
    """
    return returned is not None and bool(json.loads(returned) == json.loads(expected))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _same_line(own: str, wanted: str) -> bool:
    if own == wanted:
        return True
    try:
        return [Decimal(word) for word in own.split()] == [Decimal(word) for word in wanted.split()]
    except InvalidOperation:
        return False
