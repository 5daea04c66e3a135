"""The outside world of a proxy under test: names with public addresses, all of which lead to one server here."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from benchwright.sandbox.egress import EgressProxy

PUBLIC = "93.184.215.14"
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Outside:
    """What names resolve to, which addresses were connected to, and what the server behind them was sent.

    `names` holds one list of addresses a look-up, the last one for all further ones; `tls` is the server for port 443,
    where it is another one.
    """

    def __init__(
        self,
        server: tuple[str, int],
        names: dict[str, list[Sequence[str]]] | None = None,
        tls: tuple[str, int] | None = None,
    ) -> None:
        self._server = server
        self._tls = tls or server
        self._names = names
        self.connected: list[tuple[str, int]] = []

    async def resolve(self, host: str, port: int) -> list[str]:
        if self._names is None:
            return [PUBLIC]
        if host not in self._names:
            raise OSError("Name or service not known")
        answers = self._names[host]
        return list(answers.pop(0) if len(answers) > 1 else answers[0])

    async def connect(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.connected.append((address, port))
        return await asyncio.open_connection(*(self._tls if port == 443 else self._server))

    def proxy(self) -> EgressProxy:
        """A proxy with this world behind it."""
        return EgressProxy(self.resolve, self.connect)


class WebServer:
    """A small HTTP server on the loopback, which serves `pages` by their paths; `requests` are heads as they came."""

    def __init__(self, pages: dict[str, bytes]) -> None:
        self._pages = pages
        self.requests: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.requests.append(head)
        path = head.split(b" ", 2)[1].decode()
        status = "200 OK" if path in self._pages else "404 Not Found"
        body = self._pages.get(path, b"")
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[str, int]]:
    """A server on the loopback, by its address; its connections are closed in the end."""
    under_way: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        under_way.add(task)
        try:
            await answer(reader, writer)
            await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            under_way.discard(task)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[:2]
    finally:
        server.close()
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
