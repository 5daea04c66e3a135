"""Counting of the tokens of requests, without generating anything."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.dialects import Dialect
from benchwright.endpoint.dialects.dialect_table import TokenCounting
from benchwright.endpoint.dialects.gemini.urls import URL_FIELDS
from benchwright.endpoint.relay.program_requests import to_chat_fields

CHARACTERS_PER_TOKEN = 4


async def count_request_tokens(
    client: EndpointClient, dialect: Dialect, counting: TokenCounting, asked: dict[str, Any]
) -> bytes:
    """Return the response body to a dialect's request for a token count.

    If the server counts in that dialect, its count is returned. If it only counts the tokens of texts, the
    sum for the request's texts is returned. Otherwise the count is an estimate.

    Raises:
        HttpError: If the request is not valid in the dialect.
    """
    if await client.supports_dialect(dialect.path):
        document = await client.fetch_document(
            counting.path, msgspec.json.encode(_on_its_way(dialect, asked))
        )
        if document is not None and document.status == 200:
            return document.body
    chat = to_chat_fields(dialect, counting.request_to_count(asked))
    text = msgspec.json.encode([chat["messages"], chat.get("tools", [])]).decode()
    count = await client.count_tokens(text)
    return msgspec.json.encode(
        counting.make_response(len(text) // CHARACTERS_PER_TOKEN if count is None else count)
    )


def _on_its_way(dialect: Dialect, asked: dict[str, Any]) -> dict[str, Any]:
    if not dialect.has_model_in_url:
        return asked
    inner = {"model": f"models/{asked['model']}"}
    return {
        name: {**value, **inner} if isinstance(value, dict) and "contents" in value else value
        for name, value in asked.items()
        if name not in URL_FIELDS
    }
