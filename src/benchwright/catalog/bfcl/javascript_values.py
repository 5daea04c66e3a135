"""Parses values in JavaScript syntax by BFCL's rules (bfcl_eval, js_type_converter.py).

A value that cannot be parsed as the wanted type remains a string, which the check of its type then rejects.
"""

from __future__ import annotations

import re
from typing import Any

from benchwright.catalog.bfcl.java_values import parse_number_or_text
from benchwright.catalog.bfcl.parameter_types import MAX_SOURCE_LENGTH

_WHOLE = re.compile(r"^-?\d+$")
_FLOAT = re.compile(r"^-?\d+(\.\d+)?$")
_BIGINT = re.compile(r"^-?\d+n$")
_ARRAY = re.compile(r"\[(.*?)\]|\bnew\s+Array\((.*?)\)")
_ROW = re.compile(r"\[(.*?)\]")
_ROWS_OPENING = re.compile(r"\[\s*\[|\bnew\s+Array\(\s*\[")
_NEXT_ROW = re.compile(r"\s*,\s*\[")
_OBJECT = re.compile(r"\{(.*?)\}")
_PAIR = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")


def parse_javascript_value(text: str, wanted: str, element: str | None = None) -> Any:
    """Parse the source text of a value. `wanted`: its declared type. `element`: the declared type of its elements.

    Raises:
        ValueError: If BFCL has no rule for the type.
    """
    match wanted:
        case "String":
            return text[1:-1] if _quoted(text) else text
        case "integer":
            return int(text) if _WHOLE.match(text) else text
        case "float":
            return float(text) if _FLOAT.match(text) else text
        case "Bigint":
            return int(text.rstrip("\n")[:-1]) if _BIGINT.match(text) else text
        case "Boolean":
            return {"true": True, "false": False}.get(text, text)
        case "any":
            return text
        case "array":
            return _array(text.strip(), element)
        case "dict":
            return _object(text.strip())
    raise ValueError(f"no rule for values of the JavaScript type {wanted}")


def _quoted(text: str) -> bool:
    return any(text.startswith(mark) and text.endswith(mark) for mark in "\"'")


def _array(text: str, element: str | None) -> Any:
    if len(text) > MAX_SOURCE_LENGTH:
        return text
    rows = _rows(text)
    if rows is not None:
        return rows
    found = _ARRAY.match(text)
    if found is None:
        return text
    inside = (found[1] if found[1] is not None else found[2]).strip()
    parts = [part.strip() for part in inside.split(",")] if inside else []
    try:
        return [parse_javascript_value(part, element) if element else _untyped(part) for part in parts]
    except ValueError:
        return text


def _rows(text: str) -> list[list[Any]] | None:
    """Return the rows of an array of arrays, `[[…], […]]` or `new Array([…], […])`.

    Return None if the text is not an array of arrays.
    """
    opening = _ROWS_OPENING.match(text)
    if opening is None:
        return None
    end = _rows_end(text, opening.end(), "]" if text[0] == "[" else ")")
    if end is None:
        return None
    rows = [row.strip() for row in _ROW.findall(text[:end])]
    rows[0] = rows[0].removeprefix("[")
    return [[_untyped(part) for part in row.split(",")] for row in rows]


def _rows_end(text: str, start: int, closing: str) -> int | None:
    """Return the position where an array of rows ends. `start`: the position at which its first row begins.

    Return None if the array does not end. A row ends with the first `]` on its line that is followed by the
    array's end, or by another row that itself ends. The search goes from right to left, so that no text takes
    long to parse.
    """
    inside: list[int | None] = [None] * (len(text) + 1)
    for position in range(len(text) - 1, start - 1, -1):
        if text[position] == "\n":
            continue
        inside[position] = inside[position + 1]
        if text[position] == "]":
            end = _end_behind_row(text, position + 1, closing, inside)
            inside[position] = inside[position] if end is None else end
    return inside[start]


def _end_behind_row(text: str, position: int, closing: str, inside: list[int | None]) -> int | None:
    following = _NEXT_ROW.match(text, position)
    if following is not None and inside[following.end()] is not None:
        return inside[following.end()]
    rest = text[position:].lstrip()
    return len(text) - len(rest) + 1 if rest.startswith(closing) else None


def _object(text: str) -> Any:
    if text == "{}":
        return {}
    found = _OBJECT.match(text) if len(text) <= MAX_SOURCE_LENGTH else None
    if found is None:
        return text
    return {key.strip().strip("'\""): _member(value.strip()) for key, value in _PAIR.findall(found[1])}


def _member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _array(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _object(text)
    return _untyped(text.strip("'\""))


def _untyped(text: str) -> Any:
    """Parse a value that has no declared type. The form of the text decides its type."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if _quoted(text) else parse_number_or_text(text)
