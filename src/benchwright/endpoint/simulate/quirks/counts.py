"""Quirks of token counts, finish reasons and log-probabilities. Each function rewrites its argument in place."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.simulate.quirks.stream import Chunk, ChunkStream, stream_choices, stream_deltas

HIDDEN_TOKENS = 100
"""Number of thinking tokens that only `total_tokens` includes."""

INVENTED_FINISH_REASON = "eos_reached"

_OTHER_WORDS = {"stop": "end_turn", "length": "MAX_TOKENS", "tool_calls": "tool_use"}


def count_thinking_only_in_total(chunk: Chunk) -> None:
    """Count thinking tokens in `total_tokens`, but not in the completion tokens (gateways before Gemini)."""
    if usage := chunk.get("usage"):
        usage["total_tokens"] += HIDDEN_TOKENS
        usage.pop("completion_tokens_details", None)


def move_usage_to_choice(stream: ChunkStream) -> None:
    """Move the usage into the last choice (Moonshot)."""
    usage = next((chunk.pop("usage") for piece in stream for chunk in piece if chunk.get("usage")), None)
    if usage is not None:
        *_, last = stream_choices(stream)
        last["usage"] = usage


def rename_token_counts(chunk: Chunk) -> None:
    """Rename the token counts to the fields of Anthropic, and send values such as 12.0."""
    if usage := chunk.get("usage"):
        usage["input_tokens"] = float(usage.pop("prompt_tokens"))
        usage["output_tokens"] = float(usage.pop("completion_tokens"))


def use_foreign_finish_reason(chunk: Chunk) -> None:
    """Replace the finish reason by the equivalent value of Anthropic or Gemini."""
    for choice in chunk["choices"]:
        if reason := choice["finish_reason"]:
            choice["finish_reason"] = _OTHER_WORDS.get(reason, reason)


def send_empty_finish_reason(stream: ChunkStream) -> None:
    """Send an empty finish reason in place of null (Ollama, SGLang)."""
    for choice in stream_choices(stream):
        choice["finish_reason"] = choice["finish_reason"] or ""


def use_unknown_finish_reason(chunk: Chunk) -> None:
    """Replace the finish reason by a value that no API's reference has."""
    for choice in chunk["choices"]:
        if choice["finish_reason"]:
            choice["finish_reason"] = INVENTED_FINISH_REASON


def rename_finish_reason_field(chunk: Chunk) -> None:
    """Rename the field of the finish reason to `finishReason`."""
    for choice in chunk["choices"]:
        choice["finishReason"] = choice.pop("finish_reason")


def repeat_stop_at_end(stream: ChunkStream) -> None:
    """Send "stop" in a further chunk after the chunk with the finish reason."""
    for piece in stream:
        for place, chunk in enumerate(piece):
            if chunk["choices"] and chunk["choices"][0]["finish_reason"]:
                choice = {**chunk["choices"][0], "delta": {}, "finish_reason": "stop"}
                piece.insert(place + 1, {**chunk, "choices": [choice], "usage": None})
                return


def send_zero_usage_at_end(stream: ChunkStream) -> None:
    """Send the usage with the first chunk, and zeros at the end (gateways that count only what they send)."""
    for chunk in _chunks_with_usage(stream):
        stream[0][0]["usage"] = chunk["usage"]
        chunk["usage"] = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), 0)


def split_usage(stream: ChunkStream) -> None:
    """Send the count of prompt tokens with the first chunk, and the count of completion tokens with the last.

    Gateways of Anthropic do this.
    """
    for chunk in _chunks_with_usage(stream):
        stream[0][0]["usage"] = {"prompt_tokens": chunk["usage"].pop("prompt_tokens")}
        chunk["usage"].pop("total_tokens")


def _chunks_with_usage(stream: ChunkStream) -> list[Chunk]:
    return [chunk for piece in stream for chunk in piece if chunk.get("usage")]


def send_nan_logprobs(stream: ChunkStream) -> None:
    """Send NaN as the log-probability of each token."""
    for choice, delta in zip(stream_choices(stream), stream_deltas(stream), strict=True):
        if text := delta.get("content"):
            token: dict[str, Any] = {"token": text, "logprob": float("nan"), "top_logprobs": []}
            choice["logprobs"] = {"content": [token]}


def send_nan_logprobs_in_body(body: Chunk) -> None:
    """Send NaN as the log-probability of a token in a whole answer."""
    token: dict[str, Any] = {"token": "a", "logprob": float("nan"), "top_logprobs": []}
    body["choices"][0]["logprobs"] = {"content": [token]}
