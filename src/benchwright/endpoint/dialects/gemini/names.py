"""Fields of Gemini's JSON, which may be written in camelCase or in snake_case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

_CAPITAL = re.compile("[A-Z]")


@cache
def in_snake_case(name: str) -> str:
    """The other way to write a field's name: `inlineData` is `inline_data`."""
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def said(fields: Mapping[str, Any], name: str) -> Any:
    """The value of a field by its name in camelCase, in whichever way it was written; None without one."""
    value = fields.get(name)
    return fields.get(in_snake_case(name)) if value is None else value
