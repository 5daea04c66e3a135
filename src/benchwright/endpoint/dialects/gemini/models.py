"""A model in Gemini's list."""

from __future__ import annotations

from typing import Any


def listed(name: str) -> dict[str, Any]:
    """Return an entry of the list at /v1beta/models."""
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
    }
