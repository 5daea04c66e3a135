"""How many tokens a request of Messages has, without generating anything."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.dialects import MESSAGES
from benchwright.endpoint.relay.asked import as_chat

CHARACTERS_PER_TOKEN = 4


async def counted_tokens(client: EndpointClient, asked: dict[str, Any]) -> bytes:
    """The answer of /messages/count_tokens: the server's own, or its count of the texts, or an estimate.

    Raises:
        HttpError: this is not a request of Messages.
    """
    if await client.speaks(MESSAGES.path):
        document = await client.document(f"{MESSAGES.path}/count_tokens", msgspec.json.encode(asked))
        if document is not None and document.status == 200:
            return document.body
    chat = as_chat(MESSAGES, asked)
    text = msgspec.json.encode([chat["messages"], chat.get("tools", [])]).decode()
    count = await client.count_tokens(text)
    return msgspec.json.encode(
        {"input_tokens": len(text) // CHARACTERS_PER_TOKEN if count is None else count}
    )
