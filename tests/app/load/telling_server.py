"""A server that streams by a script, and tells what it was asked: when each request arrived, and how many at once."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

Piece = tuple[float, dict[str, Any] | None]
"""Seconds after the piece before, and a chunk; None breaks the connection off.

Pieces without a pause between them are written as one."""

Script = Callable[[int], Sequence[Piece]]
"""The pieces of the answer to the request of this number, counted from 0."""


def delta(**fields: Any) -> dict[str, Any]:
    """A chunk with these fields in its delta."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def text(content: str) -> dict[str, Any]:
    """A chunk with a piece of the answer."""
    return delta(content=content)


def end(**usage: Any) -> list[Piece]:
    """The finish reason, and then the usage if there is any."""
    stop = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return [(0.0, stop), *([(0.0, {"choices": [], "usage": usage})] if usage else [])]


class TellingServer:
    """What it was asked: `arrivals` (`perf_counter`), and the `most` requests it had at once."""

    def __init__(self, script: Script) -> None:
        self.arrivals: list[float] = []
        self.most = 0
        self.url = ""
        self._script = script
        self._at_once = 0
        self._writers: set[asyncio.StreamWriter] = set()

    async def serve(self, ready: threading.Event, over: asyncio.Event) -> None:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**22, backlog=512)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        ready.set()
        await over.wait()
        server.close()
        for writer in self._writers:
            writer.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length or 0))
                if head.startswith(b"GET"):
                    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                    continue
                await self._answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter) -> None:
        number = len(self.arrivals)
        self.arrivals.append(perf_counter())
        self._at_once += 1
        self.most = max(self.most, self._at_once)
        try:
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            together = b""
            for seconds, chunk in self._script(number):
                if seconds:
                    writer.write(together)
                    together = b""
                    await asyncio.sleep(seconds)
                if chunk is None:
                    writer.write(together)
                    raise ConnectionResetError
                together += _event(json.dumps(chunk))
            writer.write(together + _event("[DONE]") + b"0\r\n\r\n")
        finally:
            self._at_once -= 1


def _event(data: str) -> bytes:
    """Return an event of a stream as a chunk of HTTP."""
    event = f"data: {data}\n\n".encode()
    return b"%x\r\n%b\r\n" % (len(event), event)


@contextmanager
def telling(script: Script) -> Iterator[TellingServer]:
    """A server at work, in a thread."""
    server, ready = TellingServer(script), threading.Event()
    loop, over = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(server.serve(ready, over)))
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
