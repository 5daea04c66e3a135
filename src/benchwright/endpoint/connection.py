"""One HTTP/1.1 connection. httptools parses the received bytes, and a sink gets them the moment they arrive."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from time import perf_counter_ns
from typing import Protocol

import httptools

from benchwright.endpoint.tls import certificate_refusal
from benchwright.endpoint.waiting_bytes import SocketInspector, watch_socket

Headers = list[tuple[bytes, bytes]]
"""HTTP headers as pairs of a name in lower case and a value as sent."""

MAX_HEAD_BYTES = 256 * 1024
"""Maximum number of bytes of a response before its body, including informational (1xx) responses."""


class Sink(Protocol):
    """Receiver of a response.

    The methods are called from `data_received`, so they are plain functions that never wait.

    `at`: the time at which the bytes were read (`perf_counter_ns`), taken before any parsing. If a method
    raises an exception, the exchange ends as malformed.
    """

    def receive_head(self, status: int, headers: Headers, at: int) -> None:
        """Receive the status and headers of the final (not 1xx) response."""
        ...

    def receive_data(self, chunk: bytes, at: int) -> None:
        """Receive the bytes of the body that arrived at the time `at`, without their transfer coding."""
        ...

    def last_token_time(self) -> int | None:
        """Return the time at which the last token arrived.

        Return 0 before the first token. Return None if the response does not consist of tokens.
        """
        ...


class TransportError(Exception):
    """Raised if an exchange fails before there is a complete HTTP response.

    `kind`: the name of the failure (listed at `ConnectionPool.send`). `received`: True if any byte of a
    response had arrived. `resent`: how often the request had been sent before (see
    `transport.ExchangeTimings`).
    """

    def __init__(self, kind: str, message: str, *, received: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.received = received
        self.resent = 0


class Exchange:
    """One request and its response on a connection, with its timestamps (`perf_counter_ns`).

    `token_at`: the time at which the last token is known to have arrived. Before the first token, it is the
    time of sending. After a pause in reading, it is the time at which reading was resumed. `largest`: the
    maximum size of the response in bytes. `until`: the time by which the response must have ended.
    """

    __slots__ = (
        *("detect_lag", "done", "first_at", "largest", "last_at", "paused", "received", "sent_at"),
        *("sink", "token_at", "until"),
    )

    def __init__(self, sink: Sink, done: asyncio.Future[None], largest: int | None) -> None:
        self.sink = sink
        self.done = done
        self.largest = sys.maxsize if largest is None else largest
        self.received = 0
        self.sent_at = 0
        self.first_at = 0
        self.last_at = 0
        self.detect_lag = 0
        self.token_at = 0
        self.until = 0
        self.paused = False


class Connection(asyncio.Protocol):
    """A connection that carries one exchange at a time.

    Create it with `loop.create_connection`. Start an exchange with `start_exchange`.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._waiting: SocketInspector | None = None
        self._body: list[bytes] = []
        self.on_body = self._body.append
        """Callback of the HTTP parser for each piece of a body."""
        self._parser = httptools.HttpResponseParser(self)
        self._exchange: Exchange | None = None
        self._headers: Headers = []
        self._at = 0
        self._head_size = 0
        self._informational = False
        self._headers_done = False
        self._ends_by_close = False
        self.open = False
        self.idle_since = 0
        self._lost: Exception | None = None

    # Called by the pool

    def start_exchange(
        self,
        request: bytes,
        sink: Sink,
        largest: int | None = None,
        rest: Sequence[bytes | memoryview] = (),
    ) -> Exchange:
        """Send a request, and return its exchange. `rest`: further parts of the request's body.

        The future of the exchange is done when the response is complete or has failed. A response fails if it
        is larger than `largest` bytes, headers and trailers included.
        """
        assert self._transport is not None
        exchange = Exchange(sink, self._loop.create_future(), largest)
        self._exchange = exchange
        self._headers_done = False
        self._head_size = 0
        if not self.open:
            self._end(self._why_lost("before it answered"))
            return exchange
        exchange.sent_at = exchange.last_at = exchange.token_at = perf_counter_ns()
        if rest:
            self._transport.writelines([request, *rest])
        else:
            self._transport.write(request)
        return exchange

    def pause(self) -> None:
        """Stop reading the response in progress until `resume`."""
        if self._exchange is not None and self._transport is not None and self.open:
            self._exchange.paused = True
            self._transport.pause_reading()

    def resume(self) -> None:
        """Resume reading. The pause does not count as silence of the server."""
        if self._exchange is not None and self._exchange.paused:
            self._exchange.last_at = self._exchange.token_at = perf_counter_ns()
            self._read_on(self._exchange)

    def fail(self, error: TransportError) -> None:
        """End the exchange in progress with an error, and close the connection."""
        self._end(error)
        self.close()

    def close(self) -> None:
        """Close the connection at once, without finishing an exchange in progress."""
        self.open = False
        if self._transport is not None:
            self._transport.abort()

    # Called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Set up the connection for exchanges."""
        self._transport = transport  # type: ignore[assignment]  # always a Transport here
        self._waiting = watch_socket(transport.get_extra_info("socket"))
        self.open = True

    def data_received(self, data: bytes) -> None:
        """Parse received bytes. The arrival time is taken first.

        An error of the parser or the sink ends the exchange.
        """
        self._at = at = perf_counter_ns()
        exchange = self._exchange
        if exchange is None:
            self.close()
            return
        if not exchange.first_at:
            exchange.first_at = at
            exchange.detect_lag = 0 if self._waiting is None else self._waiting.wait_ns()
        exchange.last_at = at
        exchange.received += len(data)
        if exchange.received > exchange.largest:
            text = f"the answer is larger than {exchange.largest:,} bytes"
            self.fail(TransportError("too_large", text, received=True))
            return
        try:
            try:
                self._parser.feed_data(data)
            finally:
                if self._body:
                    self._hand_over()
            if not self._headers_done:
                self._limit_head(len(data))
        except httptools.HttpParserCallbackError as error:  # the sink raised while the parser was at work
            self.fail(TransportError("malformed", str(error.__context__), received=True))
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self.fail(
                TransportError("malformed", f"the answer is not valid HTTP/1.1: {error}", received=True)
            )
        except Exception as error:  # the sink raised some other exception
            self.fail(TransportError("malformed", str(error), received=True))

    def connection_lost(self, exc: Exception | None) -> None:
        """End the exchange, because the connection was closed or broke.

        If the response stated no length, the end of the connection completes its body.
        """
        self.open, self._lost = False, exc
        exchange = self._exchange
        if exchange is None:
            return
        if self._headers_done and self._ends_by_close and exc is None:
            self._end(None)
            return
        received = bool(exchange.first_at)
        self._end(
            self._why_lost("in the middle of the answer" if received else "before it answered", received)
        )

    def _why_lost(self, when: str, received: bool = False) -> TransportError:
        """Return the error for an exchange whose connection was lost.

        If the connection was lost because the server refused the client's certificate, the error states this
        reason. A server reports such a refusal only after the handshake.
        """
        if not received and (why := certificate_refusal(self._lost)) is not None:
            return TransportError("connect", why)
        return TransportError("closed", f"the server closed the connection {when}", received=received)

    # Called by the parser

    def on_message_begin(self) -> None:
        """Process the beginning of a response. After a response without a request the connection is not used again."""
        self._headers = []
        self._ends_by_close = True
        if self._exchange is None:
            self.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header. Trailers, which come after the body, are ignored."""
        if self._headers_done:
            return
        name = name.lower()
        self._headers.append((name, value))
        if name == b"content-length" or (name == b"transfer-encoding" and b"chunked" in value.lower()):
            self._ends_by_close = False

    def on_headers_complete(self) -> None:
        """Pass the status and headers of the final response to the sink.

        Informational responses (1xx) are ignored.
        """
        status = self._parser.get_status_code()
        self._informational = 100 <= status < 200
        if self._informational or self._exchange is None:
            return
        self._headers_done = True
        self._exchange.sink.receive_head(status, self._headers, self._at)

    def on_message_complete(self) -> None:
        """End the exchange, because its response is complete."""
        if self._body:
            self._hand_over()
        if not self._informational:
            if not self._parser.should_keep_alive():
                self.close()
            self._end(None)

    def _hand_over(self) -> None:
        """Join the pieces of the body that arrived together, and pass them to the sink."""
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        self._body.clear()
        if self._exchange is not None:
            self._exchange.sink.receive_data(body, self._at)

    def _limit_head(self, size: int) -> None:
        self._head_size += size
        if self._head_size > MAX_HEAD_BYTES:
            text = f"the headers of the answer are larger than {MAX_HEAD_BYTES} bytes"
            self.fail(TransportError("malformed", text, received=True))

    def _read_on(self, exchange: Exchange) -> None:
        exchange.paused = False
        if self._transport is not None and self.open:
            self._transport.resume_reading()

    def _end(self, error: TransportError | None) -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is None or exchange.done.done():
            return
        if exchange.paused:
            self._read_on(exchange)
        if error is None:
            exchange.done.set_result(None)
        else:
            exchange.done.set_exception(error)
