"""The prompt (input) and the expected answer (target) of a trial, as its journal body stores them."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.records import Message
from benchwright.text import truncate

MAX_STORED_PROMPT_LENGTH = 100_000
"""Maximum number of characters of a stored input or target. A longer text is cut."""

MAX_SEARCHED_MESSAGES = 8
"""Number of messages at the beginning of a conversation among which the input is searched for."""


def stored_input(text: str | None, messages: Sequence[Message]) -> int | str | None:
    """Return the input in the form in which a journal body stores it.

    If the content of a message equals the input, the stored form is the message's index. Otherwise it is the
    text of the input, shortened.
    """
    if text is None:
        return None
    places = (
        place
        for place, message in enumerate(messages[:MAX_SEARCHED_MESSAGES])
        if message.get("content") == text
    )
    return next(places, truncate(text, MAX_STORED_PROMPT_LENGTH))


def stored_target(text: str | None) -> str | None:
    """Return the target in the form in which a journal body stores it: shortened. None stays None."""
    return None if text is None else truncate(text, MAX_STORED_PROMPT_LENGTH)


def read_input(kept: int | str | None, messages: Sequence[Message]) -> str | None:
    """Return the input, given its stored form (see `stored_input`). None if no input is stored."""
    if not isinstance(kept, int):
        return kept
    content = messages[kept].get("content") if 0 <= kept < len(messages) else None
    return content if isinstance(content, str) else None
