"""Quirks of token counts, of why an answer ended, and of log-probabilities."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.simulate.quirks.stream import Chunk, Stream, choices, deltas

HIDDEN = 100
"""Tokens of thinking that only the total tells of."""

_OTHER_WORDS = {"stop": "end_turn", "length": "MAX_TOKENS", "tool_calls": "tool_use"}


def thinking_in_total(chunk: Chunk) -> None:
    """Count thinking in `total_tokens` alone (gateways before Gemini)."""
    if usage := chunk.get("usage"):
        usage["total_tokens"] += HIDDEN
        usage.pop("completion_tokens_details", None)


def usage_in_choice(stream: Stream) -> None:
    """Send the usage in the last choice (Moonshot)."""
    usage = next((chunk.pop("usage") for piece in stream for chunk in piece if chunk.get("usage")), None)
    if usage is not None:
        *_, last = choices(stream)
        last["usage"] = usage


def other_counts(chunk: Chunk) -> None:
    """Count tokens under Anthropic's names, as numbers with a point."""
    if usage := chunk.get("usage"):
        usage["input_tokens"] = float(usage.pop("prompt_tokens"))
        usage["output_tokens"] = float(usage.pop("completion_tokens"))


def other_finish_reason(chunk: Chunk) -> None:
    """Say why the answer ended in the words of Anthropic and Gemini."""
    for choice in chunk["choices"]:
        if reason := choice["finish_reason"]:
            choice["finish_reason"] = _OTHER_WORDS.get(reason, reason)


def empty_finish_reason(stream: Stream) -> None:
    """Send an empty finish reason in place of null (Ollama, SGLang)."""
    for choice in choices(stream):
        choice["finish_reason"] = choice["finish_reason"] or ""


def no_number(stream: Stream) -> None:
    """Send NaN as log-probability of each token."""
    for choice, delta in zip(choices(stream), deltas(stream), strict=True):
        if text := delta.get("content"):
            token: dict[str, Any] = {"token": text, "logprob": float("nan"), "top_logprobs": []}
            choice["logprobs"] = {"content": [token]}


def no_number_in_body(body: Chunk) -> None:
    """Send NaN as log-probability of a whole answer."""
    token: dict[str, Any] = {"token": "a", "logprob": float("nan"), "top_logprobs": []}
    body["choices"][0]["logprobs"] = {"content": [token]}
