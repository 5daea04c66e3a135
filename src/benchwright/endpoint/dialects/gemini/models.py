"""A model's entry in Gemini's list of models."""

from __future__ import annotations

from typing import Any


def model_entry(name: str) -> dict[str, Any]:
    """Return the entry of a model in the list at /v1beta/models."""
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
    }
