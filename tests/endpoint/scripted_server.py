"""A server that plays a script on real sockets, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple


class Step(Enum):
    """What a connection does besides sending (bytes) and pausing (a number of seconds)."""

    ASKED = "reads one request"
    ENCRYPT = "goes on in TLS"
    CLOSE = "closes"
    RESET = "breaks off (RST)"
    AGAIN = "starts over"


ASKED, ENCRYPT, CLOSE, RESET, AGAIN = Step


class Request(NamedTuple):
    """A request as it was received; header names in lower case."""

    connection: int
    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answering = Callable[[Request], bytes]
"""Makes the answer to the latest request."""

Script = Sequence[bytes | float | Step | Answering]


class ScriptedServer:
    """Use as an async context manager. It listens at a free port of `host`, or at the path of a Unix `socket`.

    The first connection plays the first script, and so on; the last script serves all further ones. At the
    end of its script a connection stays open until the client closes it.
    """

    def __init__(
        self,
        *scripts: Script,
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
        secure: bool = False,
        socket: str | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.open = 0
        self.most_open = 0
        self.alpn: list[str | None] = []
        self._scripts = scripts
        self._host = host
        self._tls = tls
        self._secure = secure
        self._socket = socket
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> ScriptedServer:
        context = self._tls if self._secure else None
        if self._socket is not None:
            self._server: asyncio.Server = await asyncio.start_unix_server(self._serve, self._socket)
            self.url = f"unix://{self._socket}"
            return self
        self._server = await asyncio.start_server(self._serve, self._host, 0, ssl=context)
        self.port: int = self._server.sockets[0].getsockname()[1]
        host = f"[{self._host}]" if ":" in self._host else self._host
        self.url = f"http{'s' if self._secure else ''}://{host}:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        number, self.connections = self.connections, self.connections + 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        if self._secure:
            self.alpn.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
        try:
            await self._play(number, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client closed, or the test is over
        finally:
            self.open -= 1
            writer.transport.abort()

    async def _play(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        script = self._scripts[min(number, len(self._scripts) - 1)]
        steps = iter(script)
        while (step := next(steps, None)) is not None:
            match step:
                case bytes():
                    writer.write(step)
                    await writer.drain()
                case Step.ASKED:
                    self.requests.append(await _read_request(number, reader))
                case Step.ENCRYPT:
                    assert self._tls is not None
                    await writer.start_tls(self._tls)
                case Step.CLOSE:
                    writer.close()
                    return await writer.wait_closed()
                case Step.RESET:
                    sock: socket.socket = writer.get_extra_info("socket")
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return writer.transport.abort()
                case Step.AGAIN:
                    steps = iter(script)
                case float() | int():
                    await asyncio.sleep(step)
                case _:
                    writer.write(step(self.requests[-1]))
                    await writer.drain()
        while await reader.read(65536):
            pass
        return None


Serve = Callable[..., Awaitable[ScriptedServer]]
"""Starts a server that plays the scripts given; the fixture `serve`."""


async def _read_request(connection: int, reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    line, *lines = head.rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value for name, value in (each.split(": ", 1) for each in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(connection, line, headers, body)


async def until(condition: Callable[[], bool], seconds: float = 5) -> None:
    """Waits until a condition holds, which must come true soon."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.001)
