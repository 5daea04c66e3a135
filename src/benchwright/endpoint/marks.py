"""Marks by which a simulated server is known, also behind gateways that drop what they do not know.

Every answer carries them: a header, the `system_fingerprint` of chat completions, and the id, which all dialects have.
LiteLLM's proxy passes a header on as `llm_provider-…`.
"""

from __future__ import annotations

from typing import Any

SIMULATED_HEADER = b"x-benchwright-simulated"

SIMULATED_MARK = "benchwright-simulated"
"""The fingerprint of a simulated model, the owner of its models, and a part of its ids."""


def is_simulated(answer: dict[str, Any]) -> bool:
    """Return True if an answer or chunk of a chat completion carries a mark."""
    return any(SIMULATED_MARK in value for name in _PLACES if isinstance(value := answer.get(name), str))


_PLACES = ("system_fingerprint", "id")
