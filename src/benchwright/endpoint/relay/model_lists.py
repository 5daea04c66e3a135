"""Lists of models, in the formats of OpenAI, Anthropic and Google."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from benchwright.endpoint.dialects.gemini.models import model_entry


def model_list(names: Iterable[str]) -> bytes:
    """Return the response body of /v1/models."""
    return msgspec.json.encode(
        {"object": "list", "data": [_model(name) for name in names], "has_more": False}
    )


def openai_model_entry(name: str) -> bytes:
    """Return the response body of /v1/models/NAME."""
    return msgspec.json.encode(_model(name))


def _model(name: str) -> dict[str, Any]:
    """Return a model's entry, with the fields that clients of OpenAI and Anthropic read."""
    return {
        "id": name,
        "object": "model",
        "created": 0,
        "owned_by": "benchwright",
        "type": "model",
        "display_name": name,
        "created_at": "1970-01-01T00:00:00Z",
    }


def gemini_model_list(names: Iterable[str]) -> bytes:
    """Return the response body of /v1beta/models."""
    return msgspec.json.encode({"models": [model_entry(name) for name in names]})


def gemini_model(name: str) -> bytes:
    """Return the response body of /v1beta/models/NAME."""
    return msgspec.json.encode(model_entry(name))
