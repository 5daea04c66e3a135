"""Decoder of a tool call's arguments, which should be a JSON object.

All modules that decode arguments use it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.records import DECODE_ERRORS


class ArgumentsError(ValueError):
    """Raised if the arguments of a call are not JSON. The message is the reason."""


def read_arguments(given: Any, *, lenient: bool = False) -> dict[str, Any]:
    """Return the decoded arguments of a call. Return {} if the call has no arguments.

    If `given` is already an object, it is returned unchanged.

    `lenient`: also accept NaN, Infinity and unpaired surrogates, as Python's json does, and therefore the
    official code of several benchmarks.

    Raises:
        ArgumentsError: If the arguments are not JSON.
        TypeError: If the arguments are JSON, but not an object.
    """
    value = _decode(given or "{}", lenient) if isinstance(given, str) or given is None else given
    if not isinstance(value, dict):
        raise TypeError("the arguments must be a JSON object")
    return value


def read_object_arguments(given: Any, *, lenient: bool = False) -> dict[str, Any] | None:
    """Return the decoded arguments of a call, as `read_arguments` does. Return None if they are not an object."""
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
