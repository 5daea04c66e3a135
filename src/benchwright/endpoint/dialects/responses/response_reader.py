"""Conversion of responses of OpenAI's Responses API into chat completions, so that one meter reads all dialects."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.dialects.responses.calls import (
    call_id,
    called_tool_name,
    is_client_call,
    read_call_arguments,
)

_TEXTS = {
    "response.output_text.delta": "content",
    "response.reasoning_text.delta": "reasoning_content",
    "response.reasoning_summary_text.delta": "reasoning_content",
    "response.refusal.delta": "refusal",
}
_WHOLE = {
    "response.output_text.done": ("content", "text"),
    "response.reasoning_text.done": ("reasoning_content", "text"),
    "response.reasoning_summary_text.done": ("reasoning_content", "text"),
    "response.refusal.done": ("refusal", "refusal"),
}
"""Events that hold a whole text: a mapping from the event's type to (field in chat completions, field of the event).

Both fields hold that text.
"""

_ARGUMENTS = ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta")
_WHOLE_ARGUMENTS = {
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
}
_ENDS = ("response.completed", "response.incomplete")
_REASONS = {"max_output_tokens": "length", "content_filter": "content_filter"}


class ResponsesReader:
    """Converter of one response of Responses. Events become chunks, and a whole body becomes a chat completion.

    `is_done`: True once the stream has announced its end.
    """

    def __init__(self) -> None:
        self.is_done = False
        self._calls: dict[int, int] = {}
        self._told: set[int] = set()

    def read_body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the chat completion that is equivalent to a body.

        For an error response, return an object with only the error.
        """
        if body.get("error"):
            return {"error": body["error"]}
        message: dict[str, Any] = {"role": "assistant", "content": "", "reasoning_content": "", "refusal": ""}
        message |= _all_of(body["output"])
        choice = {"index": 0, "message": message, "finish_reason": _finish_reason(body)}
        told = {"id": body.get("id"), "model": body.get("model")}
        return {**told, "choices": [choice], "usage": _chat_usage(body.get("usage"))}

    def read_event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return the chat completion chunk that is equivalent to an event.

        Return {} if the event adds nothing to the answer.
        """
        kind = event.get("type")
        if kind in _TEXTS:
            self._told.add(event["output_index"])
            return _chunk({_TEXTS[kind]: event["delta"]})
        if kind in _ARGUMENTS and event["output_index"] in self._calls:
            return _chunk(self._arguments(event["output_index"], event["delta"]))
        if kind in _WHOLE or kind in _WHOLE_ARGUMENTS:
            return _chunk(self._whole(kind, event))
        if kind == "response.output_item.added":
            return _chunk(self._begun(event["output_index"], event["item"]))
        if kind == "response.output_item.done":
            return _chunk(self._finished(event["output_index"], event["item"]))
        if kind in _ENDS:
            self.is_done = True
            response = event["response"]
            left = {} if self._told or self._calls else _all_of(response.get("output") or [])
            ended = _chunk(left, _finish_reason(response))
            told = {"id": response.get("id"), "model": response.get("model")}
            return {**ended, **told, "usage": _chat_usage(response.get("usage"))}
        if kind == "response.failed":
            return {"error": event["response"].get("error") or {"message": "the response failed"}}
        return {"error": event} if kind == "error" else {}

    def _arguments(self, index: int, arguments: str) -> dict[str, Any]:
        self._told.add(index)
        return {"tool_calls": [{"index": self._calls[index], "function": {"arguments": arguments}}]}

    def _whole(self, kind: str, event: dict[str, Any]) -> dict[str, Any]:
        """Return the delta for an event that holds a whole text or whole arguments.

        Some servers send such events without the deltas that should precede them.
        """
        index = event["output_index"]
        if index in self._told or (kind in _WHOLE_ARGUMENTS and index not in self._calls):
            return {}
        if kind in _WHOLE_ARGUMENTS:
            return self._arguments(index, event[_WHOLE_ARGUMENTS[kind]])
        self._told.add(index)
        field, place = _WHOLE[kind]
        return {field: event[place]}

    def _begun(self, index: int, item: dict[str, Any]) -> dict[str, Any]:
        if not is_client_call(item):
            return {"role": "assistant"}
        place = self._calls[index] = len(self._calls)
        function = {"name": called_tool_name(item), "arguments": ""}
        return {"tool_calls": [{"index": place, "id": call_id(item), "function": function}]}

    def _finished(self, index: int, item: dict[str, Any]) -> dict[str, Any]:
        """Return the delta for that content of a finished item which no earlier delta has sent."""
        if index in self._told:
            return {}
        if not is_client_call(item):
            self._told.add(index)
            return dict(_texts(item))
        place = self._calls.setdefault(index, len(self._calls))
        self._told.add(index)
        return {"tool_calls": [{"index": place, **_call(item)}]}


def _all_of(items: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one chat message with the content of all these items."""
    message: dict[str, Any] = {}
    for item in items:
        for field, text in _texts(item):
            message[field] = message.get(field, "") + text
        if is_client_call(item):
            calls = message.setdefault("tool_calls", [])
            calls.append({"index": len(calls), "type": "function", **_call(item)})
    return message


def _call(item: dict[str, Any]) -> dict[str, Any]:
    """Return a call in the format of chat completions.

    In a call of a free-text tool, the text takes the place of the arguments.
    """
    free = item["type"] == "custom_tool_call"
    function = {
        "name": called_tool_name(item),
        "arguments": item["input"] if free else read_call_arguments(item),
    }
    return {"id": call_id(item), "function": function}


def _texts(item: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (field in chat completions, text) for each text of an item."""
    if item["type"] == "reasoning":
        parts = item.get("content") or item.get("summary") or ()
        return [("reasoning_content", "".join(part["text"] for part in parts))]
    if item["type"] != "message":
        return []
    said = "".join(part["text"] for part in item["content"] if part["type"] == "output_text")
    refused = "".join(part["refusal"] for part in item["content"] if part["type"] == "refusal")
    return [("content", said), ("refusal", refused)]


def _finish_reason(response: dict[str, Any]) -> str:
    reason = (response.get("incomplete_details") or {}).get("reason")
    if reason is not None:
        return _REASONS.get(reason, str(reason))
    return "tool_calls" if any(is_client_call(item) for item in response.get("output") or []) else "stop"


def _chat_usage(usage: Any) -> dict[str, Any] | None:
    """Return the `usage` of a chat completion. Return None if the response has no usage.

    The counts are the same as in Responses, under other names.
    """
    if not isinstance(usage, dict):
        return None
    return {
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "total_tokens": usage.get("total_tokens"),
        "prompt_tokens_details": usage.get("input_tokens_details"),
        "completion_tokens_details": usage.get("output_tokens_details"),
    }


def _chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}
