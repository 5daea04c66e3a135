"""A model's answer, as whoever asked gets it."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.records import NO_USAGE, Message, RequestRecord, Usage


class Reply(msgspec.Struct, gc=False):
    """One answer of a model.

    `message` is the assistant message as it goes back into a conversation (role, content, tool_calls);
    `text` is the answer proper and `reasoning` what the model thought, split from it whichever way the
    server sent it. `tool_calls` have the OpenAI shape, their arguments a JSON string. `extra` holds answer
    fields unknown to us; `raw` is the answer as JSON (put together, where it was streamed).
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
    """The message that goes back into the conversation."""
    message: Message = {"role": "assistant", "content": text if text or not tool_calls else None}
    if tool_calls:
        message["tool_calls"] = tool_calls
    if refusal:
        message["refusal"] = refusal
    return message
