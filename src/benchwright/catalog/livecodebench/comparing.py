"""Comparison of a program's output with a test's (lcb_runner/evaluation/testing_util.py)."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation


def same_output(printed: str, expected: str) -> bool:
    """Return True if all stripped lines are equal, as texts or as decimal numbers between white space."""
    own, wanted = _lines(printed), _lines(expected)
    return len(own) == len(wanted) and all(map(_same_line, own, wanted))


def same_value(returned: str | None, expected: str) -> bool:
    """Return True if two JSON values are equal in Python, where 1 == 1.0 == True.

    `returned` = None equals nothing.
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
