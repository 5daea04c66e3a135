"""Writer that converts a chat completion's answer into the format of Responses, as a whole body or event by event."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from benchwright.endpoint.dialects.chat_answer import AnswerPart, AnswerStep, ChatAnswer
from benchwright.endpoint.dialects.encoded_reasoning import encode_reasoning
from benchwright.endpoint.dialects.responses.calls import make_call_item
from benchwright.endpoint.dialects.responses.tools import offered_tools
from benchwright.records import Usage

Event = dict[str, Any]

_DELTAS = {
    "reasoning": "response.reasoning_text",
    "text": "response.output_text",
    "refusal": "response.refusal",
    "function_call": "response.function_call_arguments",
    "custom_tool_call": "response.custom_tool_call_input",
}

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ResponsesWriter:
    """Writer of one answer in the format of Responses, as a whole body or as a stream.

    The events of a stream come from `begin`, from `write_answer_step` for each step, and then from `end` or `fail`.
    The request (`asked`) determines which calls are calls of free-text tools or of tools in a namespace.
    """

    def __init__(self, identity: str, model: str, asked: dict[str, Any]) -> None:
        self._id = identity
        self._model = model
        self._asked = asked
        self._tools = offered_tools(asked)
        self._carries_thoughts = "reasoning.encrypted_content" in (asked.get("include") or ())
        self._created = int(time.time())
        self._items: list[dict[str, Any]] = []
        self._numbers = 0

    def write_body(self, answer: ChatAnswer) -> dict[str, Any]:
        """Return the body of an answer that is not streamed."""
        items = [self._item(part, index) for index, part in enumerate(answer.parts)]
        return self._ended(answer, items)

    def begin(self) -> list[Event]:
        """Return the first events of a stream."""
        response = self._response("in_progress", [])
        return self._numbered(
            [
                {"type": "response.created", "response": response},
                {"type": "response.in_progress", "response": response},
            ]
        )

    def write_answer_step(self, step: AnswerStep) -> list[Event]:
        """Return the events for a step of the answer."""
        if step.action == "begin":
            return self._numbered(self._begun(step.part))
        if step.action == "grow":
            return self._numbered(self._grown(step.part, step.text))
        return self._numbered(self._closed(step.part))

    def end(self, answer: ChatAnswer) -> list[Event]:
        """Return the last event of a stream. It holds the whole response with its usage."""
        response = self._ended(answer, self._items)
        return self._numbered([{"type": f"response.{response['status']}", "response": response}])

    def fail(self, message: str, status: int) -> list[Event]:
        """Return the event that ends a stream with an error.

        `status`: the HTTP status that the error would have had in a response without a stream.
        """
        response = self._response("failed", self._items)
        response["error"] = {"code": _error_code(status), "message": message}
        return self._numbered([{"type": "response.failed", "response": response}])

    # Events of one part

    def _begun(self, part: AnswerPart) -> list[Event]:
        index = len(self._items)
        item = self._item(AnswerPart(part.kind, "", part.id, part.name), index, "in_progress")
        self._items.append(item)
        if _comes_whole(item):
            return []
        if "content" not in item:
            return [{"type": "response.output_item.added", "output_index": index, "item": item}]
        (content,), item["content"] = item["content"], []
        return [
            {"type": "response.output_item.added", "output_index": index, "item": item},
            {"type": "response.content_part.added", **self._place(item), "part": content},
        ]

    def _grown(self, part: AnswerPart, text: str) -> list[Event]:
        item = self._items[-1]
        if _comes_whole(item) or item["type"] == "custom_tool_call":
            return []  # its text is inside of JSON until the call is complete
        return [{"type": f"{self._channel(part, item)}.delta", **self._place(item), "delta": text}]

    def _closed(self, part: AnswerPart) -> list[Event]:
        index = len(self._items) - 1
        item = self._items[index] = self._item(part, index)
        done: Event = {"type": "response.output_item.done", "output_index": index, "item": item}
        if _comes_whole(item):
            return [{"type": "response.output_item.added", "output_index": index, "item": item}, done]
        channel, place = self._channel(part, item), self._place(item)
        events: list[Event] = []
        if item["type"] == "custom_tool_call":
            events = [
                {"type": f"{channel}.delta", **place, "delta": item["input"]},
                {"type": f"{channel}.done", **place, "input": item["input"]},
            ]
        elif item["type"] == "function_call":
            events = [{"type": f"{channel}.done", **place, "arguments": part.text}]
        else:
            field = "refusal" if part.kind == "refusal" else "text"
            events = [
                {"type": f"{channel}.done", **place, field: part.text},
                {"type": "response.content_part.done", **place, "part": item["content"][0]},
            ]
        return [*events, done]

    def _channel(self, part: AnswerPart, item: dict[str, Any]) -> str:
        return _DELTAS[item["type"] if part.kind == "call" else part.kind]

    def _place(self, item: dict[str, Any]) -> Event:
        place = {"item_id": item["id"], "output_index": len(self._items) - 1}
        return {**place, "content_index": 0} if "content" in item else place

    def _numbered(self, events: Iterable[Event]) -> list[Event]:
        numbered = [
            {**event, "sequence_number": number} for number, event in enumerate(events, self._numbers)
        ]
        self._numbers += len(numbered)
        return numbered

    # Items and responses

    def _item(self, part: AnswerPart, index: int, status: str = "completed") -> dict[str, Any]:
        if part.kind == "call":
            return make_call_item(self._tools.get(part.name), part, f"{self._id}_{index}", status)
        if part.kind == "reasoning":
            thought = [{"type": "reasoning_text", "text": part.text}]
            item = {"type": "reasoning", "id": f"rs_{self._id}_{index}", "summary": [], "content": thought}
            return (
                {**item, "encrypted_content": encode_reasoning(part.text)}
                if self._carries_thoughts and part.text
                else item
            )
        content: list[Any] = [{"type": "output_text", "text": part.text, "annotations": []}]
        if part.kind == "refusal":
            content = [{"type": "refusal", "refusal": part.text}]
        item = {"type": "message", "id": f"msg_{self._id}_{index}", "role": "assistant", "status": status}
        return {**item, "content": content}

    def _ended(self, answer: ChatAnswer, items: list[dict[str, Any]]) -> dict[str, Any]:
        reason = _INCOMPLETE.get(answer.normalised_finish_reason)
        response = self._response("incomplete" if reason else "completed", items)
        response["incomplete_details"] = {"reason": reason} if reason else None
        response["usage"] = _usage(answer.usage)
        return response

    def _response(self, status: str, items: list[dict[str, Any]]) -> dict[str, Any]:
        asked = self._asked
        return {
            "id": f"resp_{self._id}",
            "object": "response",
            "created_at": self._created,
            "status": status,
            "model": self._model,
            "output": list(items),
            "parallel_tool_calls": asked.get("parallel_tool_calls", True),
            "tool_choice": asked.get("tool_choice", "auto"),
            "tools": asked.get("tools", []),
            "error": None,
            "incomplete_details": None,
        }


def _comes_whole(item: dict[str, Any]) -> bool:
    """Return True if an item is sent only when it is complete.

    Such an item is a call whose arguments are the fields of an object.
    """
    return item["type"] not in ("message", "reasoning", *_DELTAS)


def _error_code(status: int) -> str:
    """Return the code of an error body. Clients such as Codex retry after every code except `invalid_prompt`."""
    if status == 429:
        return "rate_limit_exceeded"
    return "invalid_prompt" if 400 <= status < 500 else "server_error"


def _usage(usage: Usage) -> dict[str, Any] | None:
    """Return token counts in the fields of Responses. Return None if the counts are unknown.

    As in chat completions, input tokens include cached tokens.
    """
    if usage.prompt_tokens is None and usage.completion_tokens is None:
        return None
    return {
        "input_tokens": usage.prompt_tokens or 0,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
        "output_tokens": usage.completion_tokens or 0,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": usage.total_tokens,
    }
