"""The final answer of a conversation, and the status with which it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from benchwright.endpoint.reply import Reply
from benchwright.pictures import part_picture_url, picture_of_url_head
from benchwright.records import Message, Status


def final_answer(messages: Sequence[Message]) -> str:
    """Return the text of the last assistant message that has content. Empty if there is no such message."""
    for message in reversed(messages):
        if message.get("role") == "assistant" and message.get("content") is not None:
            return str(message["content"])
    return ""


def answer_status(reply: Reply | None) -> tuple[Status, str | None]:
    """Return (status, reason) of a conversation.

    The status follows from its last response: refused, truncated, or answered.
    """
    if reply is None:
        return Status.ANSWERED, None
    if reply.refusal:
        return Status.REFUSED, reply.refusal
    if reply.finish_reason == "content_filter":
        return Status.REFUSED, "the server's content filter stopped the answer"
    if reply.finish_reason == "length" and _has_only_thought(reply):
        return Status.CUT_OFF_IN_THINKING, "the token limit was reached while the model was still thinking"
    if reply.finish_reason == "length":
        return Status.TRUNCATED, "the answer was cut off at its largest number of tokens"
    return Status.ANSWERED, None


def _has_only_thought(reply: Reply) -> bool:
    has_thought = bool(reply.reasoning) or bool(reply.usage.reasoning_tokens)
    return has_thought and not reply.text.strip() and not reply.tool_calls


def content_text(content: Any) -> str:
    """Return the content of a message as text.

    A picture is described by its kind and size. Any other part that is not text is described by its type.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "\n".join(_part_text(part) for part in content if isinstance(part, dict))
    return msgspec.json.encode(content).decode()


def _part_text(part: dict[str, Any]) -> str:
    if part.get("type") == "text":
        return str(part.get("text"))
    picture = picture_of_url_head(part_picture_url(part) or "")
    return f"[{part.get('type')}]" if picture is None else str(picture)
