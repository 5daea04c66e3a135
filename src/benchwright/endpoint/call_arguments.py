"""Decoder of a tool call's arguments: JSON text that should be an object.

All modules that decode arguments use it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.records import DECODE_ERRORS


class ArgumentsError(ValueError):
    """Raised if the arguments of a call are not JSON. Its text is the reason."""


def read_arguments(given: Any, *, lenient: bool = False) -> dict[str, Any]:
    """Return the decoded arguments of a call; {} if there are none.

    An object in place of JSON text is returned unchanged.

    `lenient`: also accept NaN, Infinity and halves of characters, as Python's json and therefore the official
    code of several benchmarks do.

    Raises:
        ArgumentsError: If they are not JSON.
        TypeError: If they are not an object.
    """
    value = _decode(given or "{}", lenient) if isinstance(given, str) or given is None else given
    if not isinstance(value, dict):
        raise TypeError("the arguments must be a JSON object")
    return value


def read_object(given: Any, *, lenient: bool = False) -> dict[str, Any] | None:
    """Return the decoded arguments of a call; None if they are anything but an object. See `read_arguments`."""
    try:
        return read_arguments(given, lenient=lenient)
    except (ArgumentsError, TypeError):
        return None


def _decode(text: str, lenient: bool) -> Any:
    import json

    try:
        return json.loads(text) if lenient else msgspec.json.decode(text)
    except (*DECODE_ERRORS, ValueError) as error:
        raise ArgumentsError(str(error)) from None
