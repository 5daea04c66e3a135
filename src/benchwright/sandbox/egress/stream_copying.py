"""Copies bytes between a client and a server, and counts the bytes in the log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from benchwright.sandbox.egress.grants import ConnectionEntry

MAX_IDLE_SECONDS = 300.0
"""Seconds without data after which a connection is ended."""
_PIECE = 64 * 1024

StreamPair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def copy_both_ways(entry: ConnectionEntry, client: StreamPair, upstream: StreamPair) -> None:
    """Copy bytes in both directions until both have ended."""

    def sent(count: int) -> None:
        entry.sent += count

    await asyncio.gather(_pump(client[0], upstream[1], sent), _answer_back(entry, client, upstream))


async def copy_response(entry: ConnectionEntry, client: StreamPair, upstream: StreamPair) -> None:
    """Copy the server's response to the client. Whatever the client sends after its request is discarded."""
    rest = asyncio.ensure_future(_pump(client[0], None, lambda count: None))
    try:
        await _answer_back(entry, client, upstream)
    finally:
        await cancel_all([rest])


async def _answer_back(entry: ConnectionEntry, client: StreamPair, upstream: StreamPair) -> None:
    def received(count: int) -> None:
        entry.received += count

    await _pump(upstream[0], client[1], received)


async def _pump(
    source: asyncio.StreamReader, sink: asyncio.StreamWriter | None, count: Callable[[int], None]
) -> None:
    """Copy data from `source` to `sink` until `source` ends. Then end `sink`, too.

    If either side fails, the sink's connection is aborted.
    """
    try:
        while True:
            async with asyncio.timeout(MAX_IDLE_SECONDS):
                piece = await source.read(_PIECE)
            if not piece:
                break
            count(len(piece))
            if sink is not None:
                sink.write(piece)
                async with asyncio.timeout(MAX_IDLE_SECONDS):
                    await sink.drain()
        if sink is not None and sink.can_write_eof():
            sink.write_eof()
    except (OSError, TimeoutError):
        if sink is not None:
            sink.transport.abort()


async def cancel_all(tasks: Sequence[asyncio.Future[None]]) -> None:
    """Cancel tasks and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
