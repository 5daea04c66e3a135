"""What a trial was asked and what was expected of it, as its body keeps them."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.records import Message
from benchwright.text import shortened

LONGEST = 100_000
"""Characters of an input or a target that are kept."""

FIRST = 8
"""Messages among which the input is looked for: it is one of the first, or a part of one."""


def kept_input(text: str | None, messages: Sequence[Message]) -> int | str | None:
    """The input as a body keeps it: the place of the message that says just that, else the text itself."""
    if text is None:
        return None
    places = (place for place, message in enumerate(messages[:FIRST]) if message.get("content") == text)
    return next(places, shortened(text, LONGEST))


def kept_target(text: str | None) -> str | None:
    """The target as a body keeps it."""
    return None if text is None else shortened(text, LONGEST)


def read_input(kept: int | str | None, messages: Sequence[Message]) -> str | None:
    """The input as it was, None where the body has none."""
    if not isinstance(kept, int):
        return kept
    content = messages[kept].get("content") if 0 <= kept < len(messages) else None
    return content if isinstance(content, str) else None
