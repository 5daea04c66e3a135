"""Converts a pack's values to JSON, and its errors to plain data. It is the counterpart of `packs/node/json.cjs`."""

from __future__ import annotations

import dataclasses
import json
import math
import traceback
from collections.abc import Mapping
from typing import Any

LONGEST_TEXT = 16384


def to_json(value: Any) -> tuple[str, dict[str, str]]:
    """Return (JSON text of a value, the numbers that JSON cannot represent).

    The text has null in place of these numbers. They are returned as a mapping from their keys to "NaN" or
    "Infinity". Keys of the value itself begin with ".".

    Raises:
        ValueError: If the value contains itself or is nested too deeply.
        TypeError: If the value contains a type that JSON does not have.
    """
    odd: dict[str, str] = {}
    try:
        return json.dumps(_plain(value, odd, top=True, above=()), allow_nan=False), odd
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _plain(value: Any, odd: dict[str, str], *, top: bool, above: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if id(value) in above:
        raise ValueError("it contains itself")
    inside = (*above, id(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        plain = {}
        for key, item in value.items():
            if isinstance(item, float) and not math.isfinite(item):
                odd[f"{'.' if top else ''}{key}"] = "NaN" if math.isnan(item) else "Infinity"
            plain[str(key)] = _plain(item, odd, top=False, above=inside)
        return plain
    if isinstance(value, list | tuple):
        return [_plain(item, odd, top=False, above=inside) for item in value]
    raise TypeError(f"it holds {kind_of(value)}, which JSON does not know")


def kind_of(value: Any) -> str:
    """Return the type of a value in a word or two, for messages."""
    return "None" if value is None else f"a value of type {type(value).__name__}"


def describe_error(error: BaseException) -> dict[str, Any]:
    """Return any exception as {name, message, stack, status}. Never raises."""
    try:
        message = str(error)
    except BaseException:
        message = "an exception that cannot be shown"
    try:
        stack = "".join(traceback.format_exception(error))
    except BaseException:
        stack = ""
    return {
        "name": type(error).__name__,
        "message": message[:LONGEST_TEXT],
        "stack": stack[-LONGEST_TEXT:],
        "status": _status(error),
    }


def _status(error: BaseException) -> int | None:
    """Return the HTTP status of an exception, read from the attributes in which Python's HTTP clients store it.

    Return None if there is none.
    """
    for holder in (error, getattr(error, "response", None), error.__cause__):
        for name in ("status", "status_code", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
                return value
    return None
