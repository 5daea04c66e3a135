"""Names of tools, adapted to the limits of chat completions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

MAX_TOOL_NAME_LENGTH = 64
"""Maximum length of a tool's name in characters.

OpenAI's API answers 400 to a longer name, and to characters other than letters, digits, "_" and "-".
"""

_HASH_CHARACTERS = 8
_NOT_ALLOWED = re.compile(r"[^a-zA-Z0-9_-]")


def offered_tool_name(name: str) -> str:
    """Return the name under which a tool is offered.

    Invalid characters are replaced by "_". A name that is too long is cut and ends with a hash, so that two
    long names stay different.
    """
    allowed = _NOT_ALLOWED.sub("_", name)
    if len(allowed) <= MAX_TOOL_NAME_LENGTH:
        return allowed
    mark = sha256(name.encode("utf-8", "replace")).hexdigest()[:_HASH_CHARACTERS]
    return f"{allowed[: MAX_TOOL_NAME_LENGTH - _HASH_CHARACTERS - 1]}_{mark}"


def original_tool_names(names: Iterable[str]) -> dict[str, str]:
    """Return the agent's own names of its tools: a mapping from the name offered to the model to the agent's name."""
    return {offered_tool_name(name): name for name in names}
