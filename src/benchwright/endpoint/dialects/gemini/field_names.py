"""Field names of Gemini's JSON. Each may be written in camelCase or in snake_case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

_CAPITAL = re.compile("[A-Z]")


@cache
def to_snake_case(name: str) -> str:
    """Return the snake_case spelling of a field's name: `inline_data` for `inlineData`."""
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def read_field(fields: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field, whichever spelling the field has. Return None if there is no such field.

    `name`: the field's name in camelCase.
    """
    value = fields.get(name)
    return fields.get(to_snake_case(name)) if value is None else value
