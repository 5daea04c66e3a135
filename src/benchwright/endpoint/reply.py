"""A model's response, as callers of a client receive it."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.records import NO_USAGE, Message, RequestRecord, Usage


class Reply(msgspec.Struct, gc=False):
    """A model's response.

    `message`: the assistant message that goes back into the conversation (role, content, tool_calls). `text`:
    the answer. `reasoning`: the model's thinking, separated from the answer even if the server mixed the two.
    `tool_calls`: the calls in OpenAI's format, with arguments as a JSON string. `extra`: response fields that
    Benchwright does not know. `raw`: the response as JSON. If it was streamed, it was put together from the
    chunks.
    """

    message: Message
    text: str = ""
    reasoning: str = ""
    tool_calls: list[dict[str, Any]] = []
    refusal: str | None = None
    finish_reason: str | None = None
    usage: Usage = NO_USAGE
    logprobs: Any = None
    model: str | None = None
    extra: dict[str, Any] = {}
    raw: bytes = b"null"
    record: RequestRecord = RequestRecord(id="")


def assistant_message(text: str, tool_calls: list[dict[str, Any]], refusal: str | None) -> Message:
    """Return the assistant message that goes back into the conversation."""
    message: Message = {"role": "assistant", "content": text if text or not tool_calls else None}
    if tool_calls:
        message["tool_calls"] = tool_calls
    if refusal:
        message["refusal"] = refusal
    return message
