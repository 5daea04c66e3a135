"""Conversion of Gemini responses into chat completions, so that one meter reads and counts all dialects."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.endpoint.dialects.gemini.field_names import read_field

_FINISH_REASONS = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
}
"""Mapping from Gemini's finish reasons to those of chat completions.

Finish reasons that are not in the mapping (MALFORMED_FUNCTION_CALL, OTHER, …) are kept as they are.
"""

_ANSWERS = {"candidates", "promptFeedback", "prompt_feedback", "error"}
"""Fields that identify a body as a response. Each response has at least one of these fields."""

_COUNTS = (
    *("promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount"),
    *("toolUsePromptTokenCount", "totalTokenCount"),
)


class GeminiReader:
    """Converter of one Gemini response. Events become chunks, and a whole body becomes a chat completion.

    `is_done`: True once a finish reason was sent. Some servers send one in every event.
    """

    def __init__(self) -> None:
        self.is_done = False
        self._usage: dict[str, int] = {}
        self._calls = 0

    def read_body(self, body: Any) -> dict[str, Any]:
        """Return the chat completion that is equivalent to a response body.

        A list with all events of a stream is accepted, too.

        Raises:
            KeyError, TypeError, AttributeError: If the body is not a response of Gemini.
        """
        message: dict[str, Any] = {"role": "assistant", "content": "", "reasoning_content": ""}
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": None}
        told: dict[str, Any] = {"choices": [choice]}
        events = body if isinstance(body, list) else [body]
        if not any(event.keys() & _ANSWERS for event in events):
            raise KeyError("candidates")
        for event in events:
            chunk = self.read_event(event)
            if "error" in chunk:
                return chunk
            delta = chunk["choices"][0]["delta"]
            message["content"] += delta.get("content", "")
            message["reasoning_content"] += delta.get("reasoning_content", "")
            message.setdefault("tool_calls", []).extend(delta.get("tool_calls", ()))
            choice["finish_reason"] = chunk["choices"][0]["finish_reason"] or choice["finish_reason"]
            told |= {name: chunk[name] for name in ("id", "model", "usage") if chunk.get(name)}
        return told

    def read_event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return the chunk of a chat completion that is equivalent to an event."""
        if event.get("error"):
            return {"error": event["error"]}
        self._count(read_field(event, "usageMetadata"))
        candidates = event.get("candidates") or []
        candidate: dict[str, Any] = next((one for one in candidates if not one.get("index")), {})
        delta = self._delta((candidate.get("content") or {}).get("parts") or [])
        reason = self._finish_reason(read_field(candidate, "finishReason"))
        if (read_field(event, "promptFeedback") or {}).get("blockReason"):
            reason = "content_filter"
        self.is_done = self.is_done or reason is not None
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        told = {"id": read_field(event, "responseId"), "model": read_field(event, "modelVersion")}
        return {**told, "choices": [choice], "usage": self._chat_usage()}

    def _delta(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        delta: dict[str, Any] = {}
        for part in parts:
            call = read_field(part, "functionCall")
            if call is not None:
                delta.setdefault("tool_calls", []).append(self._call(call))
            elif part.get("text"):
                field = "reasoning_content" if part.get("thought") else "content"
                delta[field] = delta.get(field, "") + part["text"]
        return delta

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        place, self._calls = self._calls, self._calls + 1
        function = {"name": call["name"], "arguments": msgspec.json.encode(call.get("args") or {}).decode()}
        return {"index": place, "id": call.get("id"), "type": "function", "function": function}

    def _finish_reason(self, reason: str | None) -> str | None:
        if reason is None or reason == "FINISH_REASON_UNSPECIFIED":
            return None
        if reason == "STOP" and self._calls:
            return "tool_calls"
        return _FINISH_REASONS.get(reason, reason)

    def _count(self, usage: Any) -> None:
        """Store token counts. Later counts replace earlier counts, because each count is a total."""
        if isinstance(usage, dict):
            counts = {name: read_field(usage, name) for name in _COUNTS}
            self._usage.update({name: count for name, count in counts.items() if type(count) is int})

    def _chat_usage(self) -> dict[str, Any] | None:
        """Return the `usage` of a chat completion. Return None if no tokens were counted.

        Completion tokens include thoughts, and prompt tokens include tool results. Gemini leaves out counts
        of 0. So if there is no count of completion tokens, the total minus the prompt tokens is taken as
        their count. If there is no total either, the count is unknown.
        """
        counts = self._usage
        if not counts:
            return None
        prompt = counts.get("promptTokenCount")
        if prompt is not None:
            prompt += counts.get("toolUsePromptTokenCount", 0)
        told = [counts[name] for name in ("candidatesTokenCount", "thoughtsTokenCount") if name in counts]
        completion = sum(told) if told else None
        if not told and prompt is not None and "totalTokenCount" in counts:
            completion = max(0, counts["totalTokenCount"] - prompt)
        usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
        if "cachedContentTokenCount" in counts:
            usage["prompt_tokens_details"] = {"cached_tokens": counts["cachedContentTokenCount"]}
        if "thoughtsTokenCount" in counts:
            usage["completion_tokens_details"] = {"reasoning_tokens": counts["thoughtsTokenCount"]}
        return usage
