"""Parser of a message's content, which is a string or a list of parts of several kinds."""

from __future__ import annotations

from typing import Any, NamedTuple

from benchwright.endpoint.reasoning_parser import reasoning_text
from benchwright.endpoint.tool_call_deltas import ToolCallDelta, read_content_part

_THOUGHTS = frozenset({"thinking", "reasoning", "redacted_thinking"})


class MessageContent(NamedTuple):
    """Parsed content of a message: its text, reasoning, and tool calls."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCallDelta, ...] = ()


def read_content(content: Any) -> MessageContent:
    """Return the text, reasoning and tool calls in a message's content.

    The content may be a string, null, one part, or a list of parts and strings.

    Raises:
        TypeError: If the content is none of these.
    """
    if isinstance(content, str):
        return MessageContent(content)
    if content is None:
        return MessageContent()
    parts = content if isinstance(content, list) else [content]
    text, reasoning, calls = [], [], []
    for part in parts:
        if isinstance(part, dict) and part.get("type") in _THOUGHTS:
            reasoning.append(reasoning_text(part))
        elif isinstance(part, dict) and part.get("type") == "tool_use":
            calls.append(read_content_part(part))
        elif isinstance(part, str | dict):
            text.append(part if isinstance(part, str) else reasoning_text(part.get("text")))
        elif part is not None:
            raise TypeError(f"content is neither text nor a list of parts: {type(part).__name__}")
    return MessageContent("".join(text), "".join(reasoning), tuple(calls))
