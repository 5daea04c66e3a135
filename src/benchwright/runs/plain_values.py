"""Conversion of arbitrary Python values into values that JSON can express."""

from __future__ import annotations

from typing import Any

import msgspec

DEEPEST = 100
"""Maximum levels of nesting."""


def plain(value: Any, within: frozenset[int] = frozenset()) -> Any:
    """Return the value in types that JSON can express.

    Other objects, cycles, and levels nested too deep are replaced by their `repr`.
    """
    if value is None or isinstance(value, bool | msgspec.Raw):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    if len(within) < DEEPEST and id(value) not in within:
        within |= {id(value)}
        if isinstance(value, msgspec.Struct):
            return type(value)(*[plain(getattr(value, name), within) for name in value.__struct_fields__])
        if isinstance(value, dict):
            return {plain(str(key)): plain(item, within) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [plain(item, within) for item in value]
    return plain(_described(value))


def _described(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:  # an agent's own object whose repr fails, or endless nesting
        return f"<{type(value).__name__}: {type(error).__name__}>"
