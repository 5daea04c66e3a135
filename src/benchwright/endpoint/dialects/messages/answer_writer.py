"""Writer that converts a chat completion's answer into the format of Messages, as a whole body or event by event."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.dialects.chat_answer import AnswerPart, AnswerStep, ChatAnswer, parse_arguments
from benchwright.endpoint.dialects.errors import messages_error
from benchwright.endpoint.dialects.tool_names import original_tool_names
from benchwright.records import NO_USAGE, Usage

Event = dict[str, Any]

_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}


class MessagesWriter:
    """Writer of one answer in the format of Messages, as a whole body or as a stream.

    The events of a stream come from `begin`, from `write_answer_step` for each step, and then from `end` or `fail`.
    """

    def __init__(self, identity: str, model: str, asked: dict[str, Any]) -> None:
        self._id = identity
        self._model = model
        self._index = -1
        listed = asked.get("tools") or ()
        self._names = original_tool_names(tool["name"] for tool in listed if "name" in tool)

    def write_body(self, answer: ChatAnswer) -> dict[str, Any]:
        """Return the body of an answer that is not streamed."""
        content = [self._block(part) for part in answer.parts]
        return self._message(content, _stop_reason(answer), _usage(answer.usage))

    def begin(self) -> list[Event]:
        """Return the first event of a stream.

        The number of prompt tokens is not yet known. It is sent with the last events.
        """
        return [{"type": "message_start", "message": self._message([], None, _usage(NO_USAGE))}]

    def write_answer_step(self, step: AnswerStep) -> list[Event]:
        """Return the events for a step of the answer."""
        if step.action == "begin":
            self._index += 1
            return [
                {
                    "type": "content_block_start",
                    "index": self._index,
                    "content_block": self._opening(step.part),
                }
            ]
        if step.action == "grow":
            delta = _delta(step.part.kind, step.text)
            return [{"type": "content_block_delta", "index": self._index, "delta": delta}]
        return [{"type": "content_block_stop", "index": self._index}]

    def end(self, answer: ChatAnswer) -> list[Event]:
        """Return the last events of a stream, with the stop reason and the usage."""
        delta = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
        return [
            {"type": "message_delta", "delta": delta, "usage": _usage(answer.usage)},
            {"type": "message_stop"},
        ]

    def fail(self, message: str, status: int) -> list[Event]:
        """Return the event that ends a stream with an error.

        `status`: the HTTP status that the error would have had in a response without a stream. It determines
        the type of the error.
        """
        return [messages_error(status, message)]

    def _block(self, part: AnswerPart) -> dict[str, Any]:
        block = self._opening(part)
        if part.kind == "call":
            block["input"] = parse_arguments(part.text)
        else:
            block["thinking" if part.kind == "reasoning" else "text"] = part.text
        return block

    def _opening(self, part: AnswerPart) -> dict[str, Any]:
        if part.kind == "call":
            name = self._names.get(part.name, part.name)
            return {"type": "tool_use", "id": part.id, "name": name, "input": {}}
        if part.kind == "reasoning":
            return {"type": "thinking", "thinking": "", "signature": ""}
        return {"type": "text", "text": ""}

    def _message(self, content: list[Any], stop_reason: str | None, usage: dict[str, int]) -> dict[str, Any]:
        return {
            "id": f"msg_{self._id}",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": usage,
        }


def _stop_reason(answer: ChatAnswer) -> str:
    if any(part.kind == "refusal" for part in answer.parts):
        return "refusal"
    return _STOP_REASONS[answer.normalised_finish_reason]


def _usage(usage: Usage) -> dict[str, int]:
    """Return token counts in the fields of Messages. There, input tokens exclude cached tokens."""
    cached = usage.cached_tokens or 0
    return {
        "input_tokens": max(0, (usage.prompt_tokens or 0) - cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": usage.completion_tokens or 0,
    }


def _delta(kind: str, text: str) -> dict[str, str]:
    if kind == "call":
        return {"type": "input_json_delta", "partial_json": text}
    if kind == "reasoning":
        return {"type": "thinking_delta", "thinking": text}
    return {"type": "text_delta", "text": text}
