"""Passes bytes between a client and a server, and counts them in the log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from benchwright.sandbox.egress.grants import Connection

IDLE_SECONDS = 300.0
"""How long a connection may lie still."""
_PIECE = 64 * 1024

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def tunnel(entry: Connection, client: Streams, upstream: Streams) -> None:
    """Passes everything both ways until both have ended."""

    def sent(count: int) -> None:
        entry.sent += count

    await asyncio.gather(_pump(client[0], upstream[1], sent), _answer_back(entry, client, upstream))


async def one_answer(entry: Connection, client: Streams, upstream: Streams) -> None:
    """Passes the answer back; what the client sends besides its one request goes nowhere."""
    rest = asyncio.ensure_future(_pump(client[0], None, lambda count: None))
    try:
        await _answer_back(entry, client, upstream)
    finally:
        await ended([rest])


async def _answer_back(entry: Connection, client: Streams, upstream: Streams) -> None:
    def received(count: int) -> None:
        entry.received += count

    await _pump(upstream[0], client[1], received)


async def _pump(
    source: asyncio.StreamReader, sink: asyncio.StreamWriter | None, count: Callable[[int], None]
) -> None:
    """Passes on what comes, and its end; where either side fails, the sink's connection is cut."""
    try:
        while True:
            async with asyncio.timeout(IDLE_SECONDS):
                piece = await source.read(_PIECE)
            if not piece:
                break
            count(len(piece))
            if sink is not None:
                sink.write(piece)
                async with asyncio.timeout(IDLE_SECONDS):
                    await sink.drain()
        if sink is not None and sink.can_write_eof():
            sink.write_eof()
    except (OSError, TimeoutError):
        if sink is not None:
            sink.transport.abort()


async def ended(tasks: Sequence[asyncio.Future[None]]) -> None:
    """Ends tasks; returns when they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
