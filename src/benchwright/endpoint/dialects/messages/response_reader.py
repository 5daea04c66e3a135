"""Conversion of Messages responses into chat completions, so that one meter reads and counts all dialects."""

from __future__ import annotations

from typing import Any

import msgspec

_FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}

_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


class MessagesReader:
    """Converter of one response of Messages. Events become chunks, and a whole body becomes a chat completion.

    `is_done`: True once the stream has announced its end.
    """

    def __init__(self) -> None:
        self.is_done = False
        self._usage: dict[str, Any] = {}
        self._calls: dict[int, int] = {}
        self._inputs: dict[int, Any] = {}

    def read_body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the chat completion that is equivalent to a response body. An error body is returned unchanged."""
        if body.get("type") == "error":
            return body
        self._count(body.get("usage"))
        message: dict[str, Any] = {"role": "assistant", "content": "", "reasoning_content": ""}
        for block in body["content"]:
            if block["type"] == "text":
                message["content"] += block.get("text") or ""
            elif block["type"] == "thinking":
                message["reasoning_content"] += block.get("thinking") or ""
            elif block["type"] == "tool_use":
                function = {"name": block["name"], "arguments": _encoded(block.get("input") or {})}
                call = {"id": block.get("id"), "type": "function", "function": function}
                message.setdefault("tool_calls", []).append(call)
        choice = {"index": 0, "message": message, "finish_reason": _finish_reason(body.get("stop_reason"))}
        told = {"id": body.get("id"), "model": body.get("model")}
        return {**told, "choices": [choice], "usage": self._chat_usage()}

    def read_event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return the chat completion chunk that is equivalent to an event.

        Return {} if the event adds nothing to the answer.
        """
        kind = event.get("type")
        if kind == "content_block_delta":
            return _chunk(self._delta(event["index"], event["delta"]))
        if kind == "content_block_start":
            return _chunk(self._begun(event["index"], event["content_block"]))
        if kind == "message_start":
            message = event["message"]
            self._count(message.get("usage"))
            told = {"id": message.get("id"), "model": message.get("model")}
            return {**told, **_chunk({"role": "assistant"})}
        if kind == "content_block_stop" and self._inputs.get(event.get("index", -1)):
            return _chunk(self._arguments(event["index"], _encoded(self._inputs.pop(event["index"]))))
        if kind == "message_delta":
            self._count(event.get("usage"))
            reason = _finish_reason((event.get("delta") or {}).get("stop_reason"))
            return {**_chunk({}, reason), "usage": self._chat_usage()}
        if kind == "error":
            return {"error": event["error"]}
        self.is_done = self.is_done or kind == "message_stop"
        return {}

    def _begun(self, index: int, block: dict[str, Any]) -> dict[str, Any]:
        if block["type"] == "tool_use":
            place = self._calls[index] = len(self._calls)
            self._inputs[index] = block.get("input")  # complete input, from servers that send no deltas of it
            function = {"name": block["name"], "arguments": ""}
            return {"tool_calls": [{"index": place, "id": block.get("id"), "function": function}]}
        if block["type"] == "thinking":
            return {"reasoning_content": block.get("thinking") or ""}
        return {"content": block.get("text") or ""} if block["type"] == "text" else {}

    def _delta(self, index: int, delta: dict[str, Any]) -> dict[str, Any]:
        if delta["type"] == "text_delta":
            return {"content": delta["text"]}
        if delta["type"] == "thinking_delta":
            return {"reasoning_content": delta["thinking"]}
        if delta["type"] == "input_json_delta" and index in self._calls:
            if delta["partial_json"]:
                self._inputs.pop(index, None)
            return self._arguments(index, delta["partial_json"])
        return {}

    def _arguments(self, index: int, arguments: str) -> dict[str, Any]:
        return {"tool_calls": [{"index": self._calls[index], "function": {"arguments": arguments}}]}

    def _count(self, usage: Any) -> None:
        """Store token counts. Later counts replace earlier counts, because each count is a total."""
        if isinstance(usage, dict):
            self._usage.update({name: usage[name] for name in _COUNTS if type(usage.get(name)) is int})

    def _chat_usage(self) -> dict[str, Any] | None:
        """Return the `usage` of a chat completion. Return None if no tokens were counted.

        As usual in chat completions, prompt tokens include cached tokens.
        """
        counts = self._usage
        if not counts:
            return None
        cached = counts.get("cache_read_input_tokens", 0)
        prompt = counts.get("input_tokens", 0) + cached + counts.get("cache_creation_input_tokens", 0)
        usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": counts.get("output_tokens")}
        if "cache_read_input_tokens" in counts:
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        return usage


def _encoded(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _finish_reason(reason: str | None) -> str | None:
    return None if reason is None else _FINISH_REASONS.get(reason, reason)


def _chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}
