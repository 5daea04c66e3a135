"""Why an answer ended, in the words of chat completions, whatever words the server has for it."""

from __future__ import annotations

from typing import Any

_WORDS = {
    "stop": ("end_turn", "eos", "eos_token", "stop_sequence", "pause_turn", "completed"),
    "length": (
        *("max_tokens", "max_length", "max_output_tokens", "model_length", "token_limit"),
        "model_context_window_exceeded",
    ),
    "tool_calls": ("tool_use", "tool_call", "function_call"),
    "content_filter": (
        *(
            "safety",
            "sensitive",
            "refusal",
            "recitation",
            "language",
            "blocklist",
            "prohibited_content",
            "spii",
        ),
        *("image_safety", "model_armor", "content_filtered", "guardrail_intervened"),
    ),
}
"""The reasons of the API's reference, and what Anthropic, Gemini, Bedrock, TGI, Mistral and GLM call them."""

_STANDARD = {other: word for word, others in _WORDS.items() for other in (word, *others)}

_NONE = ("", "null", "none", "finish_reason_unspecified")
"""What servers (Ollama, SGLang, KoboldCpp) send in every chunk in place of null."""

FAILED_CALLS = ("malformed_function_call", "unexpected_tool_call", "malformed_tool_call")
"""Reasons, or what they end in, by which servers say that a call could not be read as one (Gemini)."""


def read_finish_reason(reason: Any) -> str | None:
    """Return the finish reason in the API's words, an unknown one as the server has it, None if it says nothing.

    Raises:
        TypeError: If it is neither text nor an object with a `type`, as SGLang's own API has it.
    """
    if isinstance(reason, dict):
        reason = reason.get("type")
    if reason is None:
        return None
    if not isinstance(reason, str):
        raise TypeError(f"a finish reason is text, not {reason!r:.40}")
    word = reason.lower()
    return None if word in _NONE else _STANDARD.get(word, reason)


def is_known(reason: str | None) -> bool:
    """Return True if a finish reason is one of the API's, or none."""
    return reason is None or reason in _WORDS


def tells_failed_call(reason: str | None) -> bool:
    """Return True if a finish reason says that a call could not be read as one."""
    return reason is not None and reason.lower().endswith(FAILED_CALLS)
