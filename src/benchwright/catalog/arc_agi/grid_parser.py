"""Extraction of the grid from an answer, as in the authors' harness (parsing.py, schemas.py).

It takes linear time.
"""

from __future__ import annotations

import json
import re
from typing import Any

from benchwright.records import DECODE_ERRORS

BOX_COMMAND = "\\boxed{"

_WHOLE = re.compile(r"\s*[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?\s*")

_MOST_DIGITS = 4_000
"""The largest number of digits of a number written as a string. Python parses at most 4,300 digits."""


def read_grid(answer: str) -> list[list[int]] | None:
    r"""Return the grid stated in an answer; None if there is none.

    The content of the first `\boxed{…}` is read if it is a JSON list of lists. Otherwise, the last list in
    the answer is read. Rows may have any length. Numbers may be written as strings, as 1.0, or as true.
    """
    found = _boxed(answer)
    if found is None:
        found = _last(answer)
    if found is None:
        return None
    try:
        return [[_number(value) for value in row] for row in found]
    except ValueError:
        return None


def _boxed(answer: str) -> list[list[Any]] | None:
    _, opening, rest = answer.partition(BOX_COMMAND)
    inside, closing, _ = rest.partition("}")
    return _lists(inside.strip()) if opening and closing else None


def _last(answer: str) -> list[list[Any]] | None:
    end = max(answer.rfind("]"), answer.rfind("}"))
    if end < 0 or answer[end] == "}":
        return None  # a brace ends an object, not a list
    depth = 0
    for place in range(end, -1, -1):
        if answer[place] == "]":
            depth += 1
        elif answer[place] == "[":
            depth -= 1
            if depth == 0:
                return _lists(answer[place : end + 1]) or None
    return None


def _lists(text: str) -> list[list[Any]] | None:
    try:
        read = json.loads(text)
    except (*DECODE_ERRORS, ValueError):
        return None
    return read if isinstance(read, list) and all(isinstance(row, list) for row in read) else None


def _number(value: Any) -> int:
    """Convert a value into a whole number. It may be written as a string, as 1.0 or as true.

    Raises:
        ValueError: If the value is no whole number.
    """
    if isinstance(value, str) and len(value) <= _MOST_DIGITS and _WHOLE.fullmatch(value):
        return int(value.partition(".")[0])
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    raise ValueError(value)
