"""Mapping of servers' finish reasons to the values of the chat completions API."""

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
"""Mapping from the API's finish reasons to the equivalent values of other servers.

The values are those of Anthropic, Gemini, Bedrock, TGI, Mistral and GLM.
"""

_STANDARD = {other: word for word, others in _WORDS.items() for other in (word, *others)}

_NONE = ("", "null", "none", "finish_reason_unspecified")
"""Finish reasons that stand for null. Some servers (Ollama, SGLang, KoboldCpp) send them in every chunk."""

FAILED_CALL_REASONS = ("malformed_function_call", "unexpected_tool_call", "malformed_tool_call")
"""Finish reasons that report an invalid tool call (Gemini). A finish reason that ends with one of them counts, too."""


def read_finish_reason(reason: Any) -> str | None:
    """Return the API's finish reason for a server's value.

    An unknown value is returned as sent. A null or empty value becomes None.

    Raises:
        TypeError: If the value is neither a string nor an object with a `type` (as in SGLang's own API).
    """
    if isinstance(reason, dict):
        reason = reason.get("type")
    if reason is None:
        return None
    if not isinstance(reason, str):
        raise TypeError(f"a finish reason is text, not {reason!r:.40}")
    word = reason.lower()
    return None if word in _NONE else _STANDARD.get(word, reason)


def is_known_finish_reason(reason: str | None) -> bool:
    """Return True if a finish reason is one of the API's finish reasons or None."""
    return reason is None or reason in _WORDS


def is_failed_call(reason: str | None) -> bool:
    """Return True if a finish reason reports an invalid tool call."""
    return reason is not None and reason.lower().endswith(FAILED_CALL_REASONS)
