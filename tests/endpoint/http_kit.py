"""Answers as servers write them, byte for byte, and the ways in which tests ask for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.connection import Headers, TransportError
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import BeginCallback, RequestPurpose
from benchwright.endpoint.transport import ConnectionPool, PreparedRequest
from benchwright.errors import ProviderError


def answer(body: bytes = b"", *headers: str, status: str = "200 OK") -> bytes:
    """A response whose end is told by its Content-Length."""
    return head(f"Content-Length: {len(body)}", *headers, status=status) + body


def head(*headers: str, status: str = "200 OK") -> bytes:
    """A status line and headers."""
    return "\r\n".join((f"HTTP/1.1 {status}", *headers, "", "")).encode()


def chunked(pieces: Iterable[bytes], *headers: str) -> bytes:
    """A response in chunks, one for each piece."""
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (*pieces, b""))
    return head("Transfer-Encoding: chunked", *headers) + chunks


def json_answer(content: Any, *headers: str, status: str = "200 OK") -> bytes:
    """A response whose body is JSON."""
    return answer(json.dumps(content).encode(), "Content-Type: application/json", *headers, status=status)


def error_answer(status: str, message: str = "no", *headers: str) -> bytes:
    """An error in OpenAI's shape."""
    return json_answer({"error": {"message": message}}, *headers, status=status)


def event(content: Any) -> bytes:
    """A server-sent event: bytes as they are, all else as JSON."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return b"data: " + data + b"\n\n"


DONE = event(b"[DONE]")


def sse_answer(*chunks: Any, done: bool = True) -> bytes:
    """A streamed response, each event in an HTTP chunk of its own."""
    events = [event(chunk) for chunk in chunks] + [DONE] * done
    return chunked(events, "Content-Type: text/event-stream")


def delta(finish_reason: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk of a streamed chat completion."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]}


def usage(**counts: Any) -> dict[str, Any]:
    """The chunk that holds usage and nothing else."""
    return {"choices": [], "usage": counts}


def completion(content: Any = "Hello", finish_reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    """A whole chat completion."""
    fields = {"role": "assistant", "content": content, **message}
    return {"choices": [{"index": 0, "message": fields, "finish_reason": finish_reason}]}


HELLO = json_answer(completion("Hello"))
STREAMED_HELLO = sse_answer(delta(content="Hel"), delta(content="lo"), delta("stop"))


class Collected:
    """A sink that keeps the answer."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Headers = []
        self.pieces: list[bytes] = []
        self.moments: list[int] = []

    def receive_head(self, status: int, headers: Headers, at: int) -> None:
        self.status, self.headers = status, headers
        self.moments.append(at)

    def receive_data(self, chunk: bytes, at: int) -> None:
        self.pieces.append(chunk)
        self.moments.append(at)

    def last_token_time(self) -> None:
        """None: these answers have no tokens."""

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)


OpenWire = Callable[..., ConnectionPool]
"""Makes a wire to a URL, with `connections`, `proxy` and limits; the fixture `open_wire`."""

OpenClient = Callable[..., EndpointClient]
"""Makes a client of a URL, with settings and options; the fixture `open_client`."""

CALL = PreparedRequest(b"POST /v1/x HTTP/1.1\r\nHost: test\r\nContent-Length: 8\r\n\r\n", b"question")


async def send(wire: ConnectionPool) -> Collected:
    """Sends a call and returns the answer."""
    sink = Collected()
    await wire.send(CALL, sink)
    return sink


async def failure_of(wire: ConnectionPool) -> TransportError:
    """Sends a call that must fail."""
    with pytest.raises(TransportError) as caught:
        await send(wire)
    return caught.value


def with_purpose(purpose: RequestPurpose) -> BeginCallback:
    """A request that is due when it is ready."""

    async def begin() -> RequestPurpose:
        return purpose

    return begin


async def ask(client: EndpointClient, **body: Any) -> Reply:
    """Asks a chat completion."""
    return await client.ask("/chat/completions", {"messages": [{"role": "user", "content": "Hi"}], **body})


async def refusal_of(client: EndpointClient, **body: Any) -> ProviderError:
    """Asks a chat completion that must fail."""
    with pytest.raises(ProviderError) as caught:
        await ask(client, **body)
    return caught.value
