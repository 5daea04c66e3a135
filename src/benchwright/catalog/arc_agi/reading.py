"""The grid in an answer, as the authors' harness finds it (parsing.py, schemas.py). In linear time."""

from __future__ import annotations

import json
import re
from typing import Any

from benchwright.records import UNREADABLE

BOX = "\\boxed{"

_WHOLE = re.compile(r"\s*[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?\s*")

_MOST_DIGITS = 4_000
"""Of a number written as a text; longer ones are none, for Python reads no more than 4,300 digits."""


def read_grid(answer: str) -> list[list[int]] | None:
    """The grid of an answer: in the first box, else what the last closing bracket of the text closes.

    It is a list of lists in JSON, as long or empty as it may be; numbers may be written as texts, as 1.0, or as
    true. None where there is none.
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
    _, opening, rest = answer.partition(BOX)
    inside, closing, _ = rest.partition("}")
    return _lists(inside.strip()) if opening and closing else None


def _last(answer: str) -> list[list[Any]] | None:
    end = max(answer.rfind("]"), answer.rfind("}"))
    if end < 0 or answer[end] == "}":
        return None  # what a brace closes is not a list
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
    except (*UNREADABLE, ValueError):
        return None
    return read if isinstance(read, list) and all(isinstance(row, list) for row in read) else None


def _number(value: Any) -> int:
    """A whole number, however it is written.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, str) and len(value) <= _MOST_DIGITS and _WHOLE.fullmatch(value):
        return int(value.partition(".")[0])
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    raise ValueError(value)
