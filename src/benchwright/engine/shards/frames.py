"""Messages on a byte stream: their length in eight bytes, then they themselves."""

from __future__ import annotations

import asyncio

HEADER = 8


def framed(message: bytes) -> bytes:
    """A message as it is written."""
    return len(message).to_bytes(HEADER, "big") + message


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """The next message.

    Raises:
        asyncio.IncompleteReadError: the stream has ended.
    """
    size = int.from_bytes(await reader.readexactly(HEADER), "big")
    return await reader.readexactly(size)
