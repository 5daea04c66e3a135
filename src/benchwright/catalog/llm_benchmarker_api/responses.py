"""A model's response as an object with the attributes of the OpenAI client's responses."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.catalog.llm_benchmarker_api.metrics import RequestMetrics
from benchwright.endpoint.reply import Reply
from benchwright.records import Usage


class FunctionCall(msgspec.Struct):
    """The function that a model calls. `arguments`: JSON text as the model wrote it."""

    name: str = ""
    arguments: str = ""


class ToolCall(msgspec.Struct):
    """One tool call in a response."""

    id: str = ""
    function: FunctionCall = msgspec.field(default_factory=FunctionCall)
    type: str = "function"


class ResponseMessage(msgspec.Struct):
    """The assistant message of a response. It can be sent unchanged in a later request.

    `tool_calls`: None if the message has none.
    """

    content: str | None = None
    tool_calls: list[ToolCall] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    role: str = "assistant"

    def model_dump(self) -> dict[str, Any]:
        """Return the message for a later request. Fields that are None are left out, and so is the reasoning."""
        message = msgspec.to_builtins(self)
        return {
            name: value
            for name, value in message.items()
            if name == "content" or (value is not None and name != "reasoning_content")
        }


class Choice(msgspec.Struct):
    """The only choice of a response, with its message."""

    message: ResponseMessage
    finish_reason: str | None = None
    index: int = 0


class ChatCompletion(msgspec.Struct):
    """A whole response: `choices[0].message`, `usage`, `model`, and its `metrics`.

    `raw`: the response's JSON as the server sent it. The JSON of a streamed response is reassembled.
    """

    choices: list[Choice]
    usage: Usage
    metrics: RequestMetrics
    model: str | None = None
    raw: dict[str, Any] = {}

    @classmethod
    def of(cls, reply: Reply) -> ChatCompletion:
        """Build the object from a response of Benchwright's client."""
        calls = [
            ToolCall(
                call.get("id") or "",
                FunctionCall(call["function"].get("name") or "", call["function"].get("arguments") or ""),
            )
            for call in reply.tool_calls
        ]
        message = ResponseMessage(
            content=reply.message.get("content"),
            tool_calls=calls or None,
            refusal=reply.refusal,
            reasoning_content=reply.reasoning or None,
        )
        raw = msgspec.json.decode(reply.raw)
        return cls(
            choices=[Choice(message, reply.finish_reason)],
            usage=reply.usage,
            metrics=RequestMetrics.of(reply.record),
            model=reply.model,
            raw=raw if isinstance(raw, dict) else {},
        )
