"""Timeouts and size limit of an exchange, and the timer that enforces the timeouts."""

from __future__ import annotations

import asyncio
import math
from time import perf_counter_ns

from benchwright.endpoint.connection import Connection, Exchange, TransportError
from benchwright.records import Record

DEFAULT_MAX_BYTES = 128 * 1024 * 1024

MAX_UNINTERRUPTED_CHECKS = 250
"""Number of exchanges that are checked before other tasks of the event loop may run; this takes some 0.3 ms."""


class Timeouts(Record, frozen=True):
    """Timeouts for the phases of an exchange, in seconds, and the maximum size of a response in bytes.

    `connect_seconds`: time to open a connection. `read_seconds`: time from the request to the first byte of
    the response, and also to the first token. `stall_seconds`: time between two pieces of the response, and
    also between two tokens. `total_seconds`: time from the request to the end of the response. `max_bytes`:
    maximum number of all bytes of a response; None for no limit.

    Comments, empty deltas and pieces of an unfinished event are not tokens. The first byte of a response that
    is not streamed counts as its first token.
    """

    connect_seconds: float = 10.0
    read_seconds: float = 300.0
    stall_seconds: float = 120.0
    total_seconds: float = 3600.0
    max_bytes: int | None = DEFAULT_MAX_BYTES


class TimeoutEnforcer:
    """Timer that ends overdue exchanges.

    It checks every exchange in progress several times within the shortest timeout.
    """

    def __init__(self, limits: Timeouts) -> None:
        self.hurried = False
        self._limits = limits
        self._interval = min(
            max(min(limits.read_seconds, limits.stall_seconds, limits.total_seconds) / 10, 0.005), 0.5
        )
        self._watched: dict[Connection, Exchange] = {}
        self._round: list[Connection] = []
        self._parts = 1
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, connection: Connection, exchange: Exchange, seconds: float) -> None:
        """Check this exchange from now on. `seconds`: a further limit for the duration of the whole exchange."""
        exchange.until = exchange.sent_at + round(min(seconds, self._limits.total_seconds) * 1e9)
        self._watched[connection] = exchange
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._sweep)

    def stop_watching(self, connection: Connection) -> None:
        """Stop checking the exchange on a connection, because it has ended."""
        self._watched.pop(connection, None)

    def stop(self) -> None:
        """End all exchanges in progress, because the client was closed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in list(self._watched):
            connection.fail(TransportError("client_closed", "the client was closed"))

    def _sweep(self) -> None:
        """Check the next group of exchanges.

        The exchanges are checked in groups over an interval, because checking ten thousand at once takes tens
        of ms.
        """
        if not self._round:
            self._round = list(self._watched)
            self._parts = math.ceil(len(self._round) / MAX_UNINTERRUPTED_CHECKS)
        now = perf_counter_ns()
        for connection in self._round[-MAX_UNINTERRUPTED_CHECKS:]:
            exchange = self._watched.get(connection)
            error = self._overdue(exchange, now) if exchange is not None else None
            if error is not None:
                connection.fail(error)
        del self._round[-MAX_UNINTERRUPTED_CHECKS:]
        self._timer = None
        if self._watched:
            self._timer = asyncio.get_running_loop().call_later(self._interval / self._parts, self._sweep)
        else:
            self._round.clear()

    def _overdue(self, exchange: Exchange, now: int) -> TransportError | None:
        limits, received = self._limits, bool(exchange.first_at)
        if now > exchange.until:
            text = f"the answer did not end within {limits.total_seconds:g} s"
            return TransportError("total_timeout", text, received=received)
        if exchange.paused:
            return None
        quiet = now - exchange.last_at
        if not received and quiet > limits.read_seconds * 1e9:
            return TransportError("read_timeout", f"no answer within {limits.read_seconds:g} s")
        if received and quiet > limits.stall_seconds * 1e9:
            return TransportError(
                "stall", f"the answer stalled for {limits.stall_seconds:g} s", received=True
            )
        if now - exchange.token_at > min(limits.read_seconds, limits.stall_seconds) * 1e9:
            return self._without_token(exchange, now)
        return None

    def _without_token(self, exchange: Exchange, now: int) -> TransportError | None:
        """Return the error if a token is overdue. Return None otherwise.

        The sink is asked for the time of its last token. For that it may first have to parse the bytes that
        arrived.
        """
        limits, received = self._limits, bool(exchange.first_at)
        token_at = exchange.sink.last_token_time()
        if token_at is None:
            return None
        exchange.token_at = max(exchange.token_at, token_at)
        waited = now - exchange.token_at
        if self.hurried and waited > limits.stall_seconds * 1e9:
            return TransportError(
                "stopped", f"no token for {limits.stall_seconds:g} s when the run was stopped"
            )
        if token_at and waited > limits.stall_seconds * 1e9:
            return TransportError(
                "stall", f"bytes came, but no token for {limits.stall_seconds:g} s", received=True
            )
        if received and not token_at and waited > limits.read_seconds * 1e9:
            text = f"bytes came, but no token within {limits.read_seconds:g} s"
            return TransportError("read_timeout", text, received=True)
        return None
