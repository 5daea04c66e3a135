"""Probes of routes other than chat completions and completions: other dialects, and embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.endpoint.card.examination import Examination
from benchwright.endpoint.dialects import GEMINI, MESSAGES, RESPONSES

MISSING_PATH_STATUSES = frozenset({404, 405, 501})
"""HTTP statuses with which a server reports that it does not have a path."""

HELLO_PROMPT = "Say hello."

DIALECT_PROBES: Mapping[str, tuple[str, Mapping[str, Any], str]] = {
    "messages": (
        MESSAGES.path,
        {"max_tokens": 16, "messages": [{"role": "user", "content": HELLO_PROMPT}]},
        "content",
    ),
    "responses": (RESPONSES.path, {"max_output_tokens": 16, "input": HELLO_PROMPT}, "output"),
    "gemini": (
        GEMINI.path,
        {
            "contents": [{"role": "user", "parts": [{"text": HELLO_PROMPT}]}],
            "generationConfig": {"maxOutputTokens": 16},
        },
        "candidates",
    ),
}
"""Probes of dialects: a mapping from the key of the dialect's line to (path, request body, response field).

The response field is one that every response of the dialect has.
"""


async def probe_dialect(known: Examination, key: str) -> None:
    """Find out whether the server has a dialect: request a short answer in that dialect.

    `key`: the key of the dialect's line of the card.
    """
    path, body, field = DIALECT_PROBES[key]
    answer = await known.prober.post(path, body)
    if answer.is_accepted:
        known.record_outcome(key, "answers" if isinstance(answer.json.get(field), list) else "other")
    else:
        known.record_outcome(
            key, "none" if answer.status in MISSING_PATH_STATUSES else "refused", refusal=answer.refusal
        )


async def probe_embeddings(known: Examination) -> None:
    """Find out whether the server computes embeddings: request the embedding of one word."""
    answer = await known.prober.post("/embeddings", {"input": "sea"})
    data = answer.json.get("data")
    vector = data[0].get("embedding") if answer.is_accepted and isinstance(data, list) and data else None
    if isinstance(vector, list) and vector:
        known.record_outcome("embeddings", "answers", dimensions=len(vector))
    else:
        known.record_outcome(
            "embeddings", "none", refusal="no vector in its answer" if answer.is_accepted else answer.refusal
        )
