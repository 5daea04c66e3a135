"""Encoding of reasoning as an opaque text, which agents send back with the conversation without reading it.

Servers of thinking models (DeepSeek, Kimi) answer 400 to a call that comes back without its
`reasoning_content`. Codex and Gemini CLI do not send readable reasoning back. They only send back a field
that they take for the provider's encrypted copy of the reasoning.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

_MARK = "benchwright-reasoning:"


def encode_reasoning(thought: str) -> str:
    """Return reasoning encoded as an opaque text."""
    return b64encode(f"{_MARK}{thought}".encode()).decode()


def decode_reasoning(opaque: Any) -> str:
    """Return the reasoning encoded in an opaque text. Return "" if `encode_reasoning` did not create the text."""
    try:
        text = b64decode(opaque, validate=True).decode()
    except (TypeError, ValueError):
        return ""
    return text.removeprefix(_MARK) if text.startswith(_MARK) else ""
