"""A client's connection to a server of Benchwright (simulated endpoint or relay).

The connection parses requests, passes them to a handler, and writes the responses.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from time import perf_counter_ns
from typing import Protocol, cast

import httptools

from benchwright.endpoint.serving.http import MAX_BODY_BYTES, Headers, HttpError, HttpRequest, json_response

LINGER_SECONDS = 1.0
"""Seconds for which a client whose request was refused may go on sending before the connection is closed."""

_LINGER_ZERO = struct.pack("ii", 1, 0)


class ResponseInProgress(Protocol):
    """A response in progress.

    It writes to its connection. When it is complete, it calls the connection's `finish_response`.
    """

    is_over: bool

    def abandon(self) -> None:
        """Stop, because the connection is gone. This is called even if the response has already ended."""
        ...

    def resume(self) -> None:
        """Continue, because the client of a `is_paused` connection reads again."""
        ...


class RequestHandler(Protocol):
    """Handler of requests.

    `headers`: headers added to every error that the connection itself sends. `connections`: the open
    connections.
    """

    headers: Headers
    connections: set[ServerConnection]

    def handle(self, connection: ServerConnection, request: HttpRequest) -> ResponseInProgress:
        """Start the response to a request, and return it."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


class ServerConnection(asyncio.Protocol):
    """Connection that carries one exchange at a time.

    A request sent before the last response ended is refused.
    """

    def __init__(self, handler: RequestHandler) -> None:
        self._handler = handler
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._answer: ResponseInProgress | None = None
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._body: list[bytes] = []
        self._size = 0
        self._whole = False
        self._keep_alive = True
        self._refused: HttpError | None = None
        self._deaf = False
        self.is_paused = False

    @property
    def is_idle(self) -> bool:
        """True if no response is in progress."""
        return self._answer is None or self._answer.is_over

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Set up the connection.

        Each write goes to the kernel at once, instead of at the end of the loop's iteration.
        """
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=0)
        self._handler.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the response in progress."""
        self._handler.connections.discard(self)
        if self._answer is not None:
            self._answer.abandon()
        self._transport = None

    def pause_writing(self) -> None:
        """Set `is_paused`, because the client is not reading."""
        self.is_paused = True

    def resume_writing(self) -> None:
        """Continue the response, because the client reads again."""
        self.is_paused = False
        if self._answer is not None:
            self._answer.resume()

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, and start the response when a request is whole."""
        received = perf_counter_ns()
        if self._deaf:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # No other protocol is supported: the request is answered as if it had asked for none.
            self._keep_alive = False
        except httptools.HttpParserError as error:
            self._refused = HttpError(400, f"This is not a valid HTTP/1.1 request: {error}")
        if self._refused is not None:
            self._refuse(self._refused)
        elif self._whole:
            self._start(received)

    # Called by the parser

    def on_message_begin(self) -> None:
        """Begin a request."""
        if self._whole or (self._answer is not None and not self._answer.is_over):
            self._refused = HttpError(400, "A request came before the answer to the last one.")
        self._url = b""
        self._headers = {}
        self._body = []
        self._size = 0

    def on_url(self, url: bytes) -> None:
        """Add a piece of the request's target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header of the request."""
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        """Check the announced size of the body.

        If the client waits for permission to send the body, send the permission.
        """
        announced = self._headers.get(b"content-length", b"")
        if announced.isdigit() and int(announced) > MAX_BODY_BYTES:
            self._refuse_size()
        elif self._headers.get(b"expect", b"").lower() == b"100-continue":
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        """Add a piece of the body."""
        self._size += len(body)
        if self._size > MAX_BODY_BYTES:
            self._refuse_size()
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        """Mark the request as complete. Only now does the parser know whether the connection stays open."""
        self._whole = True
        self._keep_alive = self._parser.should_keep_alive()

    # Called by the response

    def write(self, data: bytes) -> None:
        """Write bytes to the kernel.

        Bytes that the kernel does not accept are buffered, and the connection is then `is_paused`.
        """
        if self._transport is not None:
            self._transport.write(data)

    def reset(self) -> None:
        """End the connection with a TCP reset."""
        if self._transport is not None:
            connected: socket.socket = self._transport.get_extra_info("socket")
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
            self._transport.abort()

    def finish_response(self, keep_alive: bool) -> None:
        """Prepare for the next request if `keep_alive` is True. Close the connection otherwise."""
        if not keep_alive and self._transport is not None:
            self._transport.close()

    def close(self) -> None:
        """Close the connection at once, even during a response."""
        if self._answer is not None:
            self._answer.abandon()
        if self._transport is not None:
            self._transport.abort()

    def _start(self, received: int) -> None:
        self._whole = False
        path, _, query = self._url.partition(b"?")
        request = HttpRequest(
            self._parser.get_method(),
            path,
            self._headers,
            b"".join(self._body),
            received,
            self._keep_alive,
            self._parser.get_http_version() != "1.0",
            query,
        )
        self._body = []
        self._answer = self._handler.handle(self, request)

    def _refuse_size(self) -> None:
        self._body = []
        self._refused = HttpError(413, f"The body is larger than {MAX_BODY_BYTES} bytes.")

    def _refuse(self, error: HttpError) -> None:
        """Send an error before the request is complete, and ignore the rest of the request."""
        self._deaf = True
        if self._answer is not None and not self._answer.is_over:
            self.close()
            return
        headers = (*self._handler.headers, *error.headers)
        self.write(json_response(error.status, headers, error.body(), keep_alive=False))
        if self._transport is not None:
            self._transport.write_eof()
        asyncio.get_running_loop().call_later(LINGER_SECONDS, self.close)
