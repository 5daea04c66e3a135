"""Converts arbitrary Python values into values that JSON can express."""

from __future__ import annotations

from typing import Any

import msgspec

MAX_NESTING_DEPTH = 100
"""Maximum number of levels of nesting that `to_json_value` keeps."""


def to_json_value(value: Any, within: frozenset[int] = frozenset()) -> Any:
    """Return the value in types that JSON can express.

    Other objects, cycles, and values nested too deep are replaced by their `repr`.
    """
    if value is None or isinstance(value, bool | msgspec.Raw):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    if len(within) < MAX_NESTING_DEPTH and id(value) not in within:
        within |= {id(value)}
        if isinstance(value, msgspec.Struct):
            return type(value)(
                *[to_json_value(getattr(value, name), within) for name in value.__struct_fields__]
            )
        if isinstance(value, dict):
            return {to_json_value(str(key)): to_json_value(item, within) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [to_json_value(item, within) for item in value]
    return to_json_value(_described(value))


def _described(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:  # an agent's own object whose repr fails, or endless nesting
        return f"<{type(value).__name__}: {type(error).__name__}>"
