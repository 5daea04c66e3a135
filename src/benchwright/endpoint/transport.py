"""HTTP transport: `send(call, sink)` over a pool of kept-alive connections, with timeouts enforced by one timer.

HTTP/1.1 to one server. TLS and proxies are used according to the address and the environment. There are no
redirects, cookies or compression. The response is passed to the sink as it arrives, by `data_received`. The
coroutine that sends the request wakes up only once, when the response is complete.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from time import perf_counter_ns

from benchwright.endpoint.address import Address, Proxy
from benchwright.endpoint.connection import Connection, Exchange, Sink, TransportError
from benchwright.endpoint.connection_setup import open_connection
from benchwright.endpoint.timeouts import TimeoutEnforcer, Timeouts
from benchwright.endpoint.tls import NO_TLS_FILES, TlsFiles
from benchwright.records import Record

IDLE_LIMIT_NS = 60 * 1_000_000_000

LARGE_BODY_BYTES = 32 * 1024
"""Size in bytes from which a body is written separately from its head. Joining the two would copy the body."""


class PreparedRequest(Record, frozen=True):
    """A request, ready to be sent.

    `head`: the encoded method, path and headers. `body`: the first piece of the body. `body_rest`: the other
    pieces of the body. `time_limit`: a time limit until the end of the response, if stricter than the
    transport's own limit.
    """

    head: bytes
    body: bytes = b""
    time_limit: float = math.inf
    body_rest: Sequence[bytes | memoryview] = ()


class ExchangeTimings(Record, frozen=True):
    """Timings of a finished exchange. Moments are `perf_counter_ns`, durations are in ns.

    `resend_count`: how often the request had been sent before, on kept-alive connections that the server then
    closed. The server may have processed these earlier requests, too. `lost`: the time that they took.
    """

    sent_at: int
    ended_at: int
    queued_ns: int
    connect_ns: int
    detect_lag_ns: int
    resend_count: int = 0
    lost: int = 0


class ConnectionPool:
    """Pool of at most `connections` connections to one server. A request waits while all connections are in use."""

    def __init__(
        self,
        address: Address,
        *,
        connections: int,
        limits: Timeouts | None = None,
        proxy: Proxy | None = None,
        tls: TlsFiles = NO_TLS_FILES,
    ) -> None:
        self.address = address
        self.limits = limits or Timeouts()
        self._proxy = proxy
        self._tls = tls
        self._slots = asyncio.Semaphore(connections)
        self._idle: list[Connection] = []
        self._sweeper = TimeoutEnforcer(self.limits)
        self._closed = False

    async def send(
        self, call: PreparedRequest, sink: Sink, carried: Callable[[Connection], None] | None = None
    ) -> ExchangeTimings:
        """Send a request and pass the response to `sink`. Return the timings when the response is complete.

        If a kept-alive connection turns out to have been closed before any byte arrived, the request is sent
        again on another connection. `carried`: called with the connection in use, so that reading from it can
        be paused. Cancelling the coroutine closes the connection.

        Raises:
            TransportError: If the exchange failed. Its kind is one of connect, connect_timeout, read_timeout,
                stall, total_timeout, too_large, closed, malformed, client_closed, stopped.
        """
        queued_at, resent, first_at = perf_counter_ns(), 0, 0
        await self._slots.acquire()  # `async with` would create two more coroutines per request
        try:
            while True:
                opening_at = perf_counter_ns()
                first_at = first_at or opening_at
                connection = self._take_idle()
                reused = connection is not None
                if connection is None:
                    connection = await open_connection(
                        self.address, self._proxy, self.limits.connect_seconds, self._tls
                    )
                connect = 0 if reused else perf_counter_ns() - opening_at
                try:
                    exchange = await self._exchange(connection, call, sink, carried)
                except TransportError as error:
                    if reused and error.kind == "closed" and not error.received:
                        self.close_idle()
                        resent += 1
                        continue
                    error.resent = resent
                    raise
                return ExchangeTimings(
                    exchange.sent_at,
                    exchange.last_at,
                    first_at - queued_at,
                    connect,
                    exchange.detect_lag,
                    resent,
                    opening_at - first_at,
                )
        finally:
            self._slots.release()

    async def _exchange(
        self,
        connection: Connection,
        call: PreparedRequest,
        sink: Sink,
        carried: Callable[[Connection], None] | None,
    ) -> Exchange:
        if self._closed:
            connection.close()
            raise TransportError("client_closed", "the client was closed")
        if carried is not None:
            carried(connection)
        if len(call.body) < LARGE_BODY_BYTES:
            exchange = connection.start_exchange(
                call.head + call.body, sink, self.limits.max_bytes, call.body_rest
            )
        else:
            exchange = connection.start_exchange(
                call.head, sink, self.limits.max_bytes, (call.body, *call.body_rest)
            )
        self._sweeper.watch(connection, exchange, call.time_limit)
        try:
            await exchange.done
        except BaseException:
            connection.close()
            raise
        finally:
            self._sweeper.stop_watching(connection)
        if connection.open:
            connection.idle_since = exchange.last_at
            self._idle.append(connection)
        return exchange

    def _take_idle(self) -> Connection | None:
        now = perf_counter_ns()
        while self._idle:
            connection = self._idle.pop()
            if connection.open and now - connection.idle_since < IDLE_LIMIT_NS:
                return connection
            connection.close()
        return None

    def close_idle(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()

    def stop_waiting(self) -> None:
        """Let exchanges that get no token for the `stall` limit fail from now on, even before their first token.

        Their errors have the kind `stopped`.
        """
        self._sweeper.hurried = True

    def close(self) -> None:
        """Close all connections. Requests in progress fail, and so do later requests."""
        self._closed = True
        self.close_idle()
        self._sweeper.stop()
