"""The program that runs as a shard. It reads messages from stdin and writes messages to stdout.

Usage: `benchwright.engine.shards.process CONCURRENCY ANCHOR`.

ANCHOR is the anchor of the parent's clock (`clock.anchor`), so that all records use one clock.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.streams import FlowControlMixin
from typing import BinaryIO

from benchwright import clock
from benchwright.engine.garbage_collection import raise_collection_threshold
from benchwright.engine.shards.messages import ShardFailed, ShardLost, encode_message, make_shard_parts
from benchwright.engine.shards.process_shards import frame_message, read_frame
from benchwright.engine.shards.shard_loop import serve_shard
from benchwright.errors import UserError


def main() -> None:
    """Read the `WorkerSpec`, then follow orders until stdin ends or the parent stops reading."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output of user code must not mix with the messages
    clock.set_clock_anchor(int(sys.argv[2]))
    try:
        import uvloop

        uvloop.run(_run(answers, int(sys.argv[1])))
    except KeyboardInterrupt:
        sys.exit(130)
    except ShardLost:
        sys.exit(1)


async def _run(answers: BinaryIO, concurrency: int) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(FlowControlMixin, answers)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def send(message: bytes) -> None:
        if writer.is_closing():
            raise ShardLost("nobody listens any more")
        try:
            writer.write(frame_message(message))
            await writer.drain()
        except OSError:
            raise ShardLost("nobody listens any more") from None

    async def receive() -> bytes:
        try:
            return await read_frame(reader)
        except (asyncio.IncompleteReadError, OSError):
            raise ShardLost("nobody gives orders any more") from None

    try:
        parts = make_shard_parts(await receive(), concurrency)
    except UserError as error:
        await send(encode_message([ShardFailed(str(error))]))
        return
    raise_collection_threshold(concurrency)
    await serve_shard(parts, concurrency, receive, send)


if __name__ == "__main__":
    main()
