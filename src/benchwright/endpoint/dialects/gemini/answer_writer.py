"""Writer that converts a chat completion's answer into Gemini's format, as a whole body or event by event."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.dialects.chat_answer import AnswerPart, AnswerStep, ChatAnswer, parse_arguments
from benchwright.endpoint.dialects.encoded_reasoning import encode_reasoning
from benchwright.endpoint.dialects.errors import gemini_error
from benchwright.endpoint.dialects.gemini.field_names import read_field
from benchwright.endpoint.dialects.tool_names import original_tool_names
from benchwright.records import Usage

Event = dict[str, Any]

_FINISH_REASONS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


class GeminiWriter:
    """Writer of one answer in Gemini's format, as a whole body (`whole`) or as a stream.

    The events of a stream come from `write_answer_step` for each step, and then from `end` or `fail`. A call is sent
    when it is complete. As in Gemini, reasoning is sent only if the request (`asked`) includes thoughts. The
    first call carries the reasoning that precedes it.
    """

    def __init__(self, identity: str, model: str, asked: dict[str, Any]) -> None:
        self._id = identity
        self._model = model
        thinking = read_field(read_field(asked, "generationConfig") or {}, "thinkingConfig")
        self._tells_thoughts = isinstance(thinking, dict) and bool(read_field(thinking, "includeThoughts"))

        self._thought = ""
        functions = (read_field(tool, "functionDeclarations") or () for tool in asked.get("tools") or ())
        self._names = original_tool_names(one["name"] for listed in functions for one in listed)

    def write_body(self, answer: ChatAnswer) -> dict[str, Any]:
        """Return the body of an answer that is not streamed."""
        parts = []
        for part in answer.parts:
            self._keep_thought(part)
            if self._tells(part):
                parts.append(self._part(part, part.text))
        return self._ended(answer, parts)

    def begin(self) -> list[Event]:
        """Return no events, because the stream begins with the answer's first part."""
        return []

    def write_answer_step(self, step: AnswerStep) -> list[Event]:
        """Return the events for a step of the answer."""
        whole = step.part.kind == "call"
        self._keep_thought(step.part if step.action == "end" else None)
        if step.action != ("end" if whole else "grow") or not self._tells(step.part):
            return []
        return [self._response(parts=[self._part(step.part, step.part.text if whole else step.text)])]

    def end(self, answer: ChatAnswer) -> list[Event]:
        """Return the last event of a stream, with the finish reason and the usage."""
        return [self._ended(answer, [{"text": ""}])]

    def fail(self, message: str, status: int) -> list[Event]:
        """Return the event that ends a stream with an error.

        `status`: the HTTP status that the error would have had in a response without a stream.
        """
        return [gemini_error(status, message)]

    def _part(self, part: AnswerPart, text: str) -> dict[str, Any]:
        if part.kind == "call":
            name = self._names.get(part.name, part.name)
            call = {"functionCall": {"id": part.id, "name": name, "args": parse_arguments(text)}}
            thought, self._thought = self._thought, ""
            return {**call, "thoughtSignature": encode_reasoning(thought)} if thought else call
        return {"text": text, "thought": True} if part.kind == "reasoning" else {"text": text}

    def _keep_thought(self, part: AnswerPart | None) -> None:
        """Store the complete reasoning, so that it is sent with the next call."""
        if part is not None and part.kind == "reasoning":
            self._thought += part.text

    def _tells(self, part: AnswerPart) -> bool:
        return part.kind != "reasoning" or self._tells_thoughts

    def _ended(self, answer: ChatAnswer, parts: list[dict[str, Any]]) -> Event:
        refused = any(part.kind == "refusal" for part in answer.parts)
        reason = "SAFETY" if refused else _FINISH_REASONS[answer.normalised_finish_reason]
        response = self._response(parts=parts, finishReason=reason)
        usage = _usage(answer.usage)
        return response if usage is None else {**response, "usageMetadata": usage}

    def _response(self, *, parts: list[dict[str, Any]], **told: Any) -> Event:
        candidate = {"content": {"role": "model", "parts": parts}, **told, "index": 0}
        return {"candidates": [candidate], "modelVersion": self._model, "responseId": self._id}


def _usage(usage: Usage) -> dict[str, int] | None:
    """Return token counts in Gemini's fields. Return None if neither prompt nor completion tokens were counted.

    The count of the candidates excludes reasoning tokens. The count of the prompt includes cached tokens.
    Unknown counts are left out.
    """
    if usage.prompt_tokens is None and usage.completion_tokens is None:
        return None
    thoughts = usage.reasoning_tokens
    answer = None if usage.completion_tokens is None else max(0, usage.completion_tokens - (thoughts or 0))
    counts = {
        "promptTokenCount": usage.prompt_tokens,
        "cachedContentTokenCount": usage.cached_tokens,
        "candidatesTokenCount": answer,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": usage.total_tokens,
    }
    return {name: count for name, count in counts.items() if count is not None}
