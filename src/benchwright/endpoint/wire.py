"""The wire: `send(call, sink)` over a pool of kept-alive connections, its limits held by one sweeper.

HTTP/1.1, one server, TLS and proxies as the address and the environment say. No redirects, cookies or
compression. A coroutine that sends wakes once, when the answer is whole; its sink is called before, from
`data_received`.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from time import perf_counter_ns

from benchwright.endpoint.address import Address, Proxy
from benchwright.endpoint.connection import Connection, Exchange, Sink, WireError
from benchwright.endpoint.opening import open_connection
from benchwright.records import Record

IDLE_LIMIT_NS = 60 * 1_000_000_000
LARGEST_ANSWER = 128 * 1024 * 1024


class Limits(Record, frozen=True):
    """How long the parts of an exchange may take, in seconds, and how many bytes an answer may have.

    `connect`: to open a connection; `read`: from the request to the first byte of the answer, and to its first token;
    `stall`: between two pieces of the answer, and between two tokens; `total`: from the request to the end of the
    answer. Comments, empty deltas and pieces of an unfinished event are no tokens; a whole answer has its first with
    its first byte. `size` counts all bytes, None sets no limit.
    """

    connect: float = 10.0
    read: float = 300.0
    stall: float = 120.0
    total: float = 3600.0
    size: int | None = LARGEST_ANSWER


class Call(Record, frozen=True):
    """A request, ready to send: method, path and headers in one piece, and the body, the `rest` of it in pieces.

    `seconds` are those until the end of its answer, where fewer are left of them than the wire's limits allow.
    """

    head: bytes
    body: bytes = b""
    seconds: float = math.inf
    rest: Sequence[bytes | memoryview] = ()


class Delivery(Record, frozen=True):
    """When things happened in a finished exchange, `perf_counter_ns`; durations in ns.

    `resent` is how often it had been sent before on kept-alive connections that were closed upon it: the server may
    have read it then, too.
    """

    sent_at: int
    ended_at: int
    queued: int
    connect: int
    detect_lag: int
    resent: int = 0


class Wire:
    """Connections to one server, never more than `connections`, so that a request may have to wait."""

    def __init__(
        self, address: Address, *, connections: int, limits: Limits | None = None, proxy: Proxy | None = None
    ) -> None:
        self.address = address
        self.limits = limits or Limits()
        self._proxy = proxy
        self._slots = asyncio.Semaphore(connections)
        self._idle: list[Connection] = []
        self._sweeper = _Sweeper(self.limits)
        self._closed = False

    async def send(
        self, call: Call, sink: Sink, carried: Callable[[Connection], None] | None = None
    ) -> Delivery:
        """Sends a request and returns when its answer is whole and was handed to `sink`.

        A kept-alive connection that turns out to have been closed before any byte came is replaced.
        `carried` is told which connection is used, so that reading from it can be paused. Cancelling closes
        the connection.

        Raises:
            WireError: the exchange failed; its kind is one of connect, connect_timeout, read_timeout, stall,
                total_timeout, too_large, closed, malformed, client_closed, stopped.
        """
        queued_at, resent = perf_counter_ns(), 0
        async with self._slots:
            while True:
                opening_at = perf_counter_ns()
                connection = self._take_idle()
                reused = connection is not None
                if connection is None:
                    connection = await open_connection(self.address, self._proxy, self.limits.connect)
                connect = 0 if reused else perf_counter_ns() - opening_at
                try:
                    exchange = await self._exchange(connection, call, sink, carried)
                except WireError as error:
                    if reused and error.kind == "closed" and not error.received:
                        self.close_idle()
                        resent += 1
                        continue
                    error.resent = resent
                    raise
                return Delivery(
                    exchange.sent_at,
                    exchange.last_at,
                    opening_at - queued_at,
                    connect,
                    exchange.detect_lag,
                    resent,
                )

    async def _exchange(
        self, connection: Connection, call: Call, sink: Sink, carried: Callable[[Connection], None] | None
    ) -> Exchange:
        if self._closed:
            connection.close()
            raise WireError("client_closed", "the client was closed")
        if carried is not None:
            carried(connection)
        exchange = connection.ask(call.head + call.body, sink, self.limits.size, call.rest)
        self._sweeper.watch(connection, exchange, call.seconds)
        try:
            await exchange.done
        except BaseException:
            connection.close()
            raise
        finally:
            self._sweeper.forget(connection)
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
        """Closes the connections that wait for a request."""
        while self._idle:
            self._idle.pop().close()

    def hurry(self) -> None:
        """From now on, answers without a token for the `stall` limit fail (kind `stopped`), the first one included."""
        self._sweeper.hurried = True

    def close(self) -> None:
        """Closes everything; requests under way fail, and later ones too."""
        self._closed = True
        self.close_idle()
        self._sweeper.stop()


class _Sweeper:
    """Looks at every exchange under way a few times per shortest limit, and ends those that took too long."""

    def __init__(self, limits: Limits) -> None:
        self.hurried = False
        self._limits = limits
        self._interval = min(max(min(limits.read, limits.stall, limits.total) / 10, 0.005), 0.5)
        self._watched: dict[Connection, Exchange] = {}
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, connection: Connection, exchange: Exchange, seconds: float) -> None:
        exchange.until = exchange.sent_at + round(min(seconds, self._limits.total) * 1e9)
        self._watched[connection] = exchange
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._sweep)

    def forget(self, connection: Connection) -> None:
        self._watched.pop(connection, None)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in list(self._watched):
            connection.fail(WireError("client_closed", "the client was closed"))

    def _sweep(self) -> None:
        now = perf_counter_ns()
        for connection, exchange in list(self._watched.items()):
            error = self._overdue(exchange, now)
            if error is not None:
                connection.fail(error)
        self._timer = None
        if self._watched:
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._sweep)

    def _overdue(self, exchange: Exchange, now: int) -> WireError | None:
        limits, received = self._limits, bool(exchange.first_at)
        if now > exchange.until:
            text = f"the answer did not end within {limits.total:g} s"
            return WireError("total_timeout", text, received=received)
        if exchange.paused:
            return None
        quiet = now - exchange.last_at
        if not received and quiet > limits.read * 1e9:
            return WireError("read_timeout", f"no answer within {limits.read:g} s")
        if received and quiet > limits.stall * 1e9:
            return WireError("stall", f"the answer stalled for {limits.stall:g} s", received=True)
        if now - exchange.token_at > min(limits.read, limits.stall) * 1e9:
            return self._without_token(exchange, now)
        return None

    def _without_token(self, exchange: Exchange, now: int) -> WireError | None:
        """Asks the sink, which may have to read for it what has come, whether tokens really are overdue."""
        limits, received = self._limits, bool(exchange.first_at)
        token_at = exchange.sink.token_at()
        if token_at is None:
            return None
        exchange.token_at = max(exchange.token_at, token_at)
        waited = now - exchange.token_at
        if self.hurried and waited > limits.stall * 1e9:
            return WireError("stopped", f"no token for {limits.stall:g} s when the run was stopped")
        if token_at and waited > limits.stall * 1e9:
            return WireError("stall", f"bytes came, but no token for {limits.stall:g} s", received=True)
        if received and not token_at and waited > limits.read * 1e9:
            text = f"bytes came, but no token within {limits.read:g} s"
            return WireError("read_timeout", text, received=True)
        return None
