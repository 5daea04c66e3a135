"""A target's response on its way to the program.

The response is passed on as it arrives. Only an error response is held back until it is complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from benchwright.endpoint.connection import Connection
from benchwright.endpoint.connection import Headers as AnswerHeaders
from benchwright.endpoint.serving.connection import ServerConnection
from benchwright.endpoint.serving.http import (
    JSON_CONTENT_TYPE,
    Headers,
    HttpError,
    HttpRequest,
    json_response,
    response_head,
)
from benchwright.endpoint.tee import Tee
from benchwright.secrets import SECRETS

RELAY_HEADERS: Headers = ((b"server", b"benchwright-relay"),)
"""Headers of every response that the relay itself creates."""

SLOW_READER_FLAG = "slow_reader"
"""Flag of a request whose response was held up, because the program that sent the request read it slowly.

The timings of such a request are not the server's alone.
"""

NO_RETRY_HEADER = (b"x-should-retry", b"false")
"""Header that tells clients not to retry. Most clients heed it.

It is sent with an error that remains after the relay's own retries.
"""

MAX_ERROR_BYTES = 1024 * 1024

_OF_THE_CONNECTION = frozenset(
    {
        b"connection",
        b"content-length",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-connection",
        b"set-cookie",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Headers that are not passed on: headers that concern one connection only (RFC 9110, 7.6.1), and cookies."""


class RelayedAnswer:
    """Writer of a response to the program's connection. `tee`: the sink from which it gets the response.

    An error is held back until it is complete, so that the key can be redacted if the target repeats the key.
    A redirection is not passed on, because the program must not leave the relay. The relay sends an error
    instead. `last_words`: a function that returns the final event, which explains why a response is cut off,
    or None.
    """

    def __init__(self, connection: ServerConnection, request: HttpRequest) -> None:
        self.is_over = False
        self.last_words: Callable[[str, int], bytes] | None = None
        self.tee = Tee(self)
        self.task: asyncio.Task[None] | None = None
        self._connection = connection
        self._request = request
        self._carrier: Connection | None = None
        self._begun = False
        self._chunked = False
        self._keep_alive = request.keep_alive
        self._held: bytearray | None = None
        self._head: tuple[int, AnswerHeaders] = (0, [])

    # Called by the connection

    def abandon(self) -> None:
        """Cancel the request, because the program has disconnected.

        A response that has announced its end is still read to its end.
        """
        self.is_over = True
        self.resume()
        self._carrier = None
        if self.task is not None and not self.tee.meter.has_announced_end:
            self.task.cancel()

    def resume(self) -> None:
        """Continue reading from the target."""
        if self._carrier is not None:
            self._carrier.resume()

    # Called by the tee

    def set_connection(self, connection: Connection) -> None:
        """Store the connection to the target, so that it can be paused while the program is not reading."""
        self._carrier = connection

    def receive_head(self, status: int, headers: AnswerHeaders) -> None:
        """Begin the response. If the response is an error, hold it back."""
        passed = [(name, value) for name, value in headers if name not in _OF_THE_CONNECTION]
        if status >= 300:
            self._held = bytearray()
            self._head = status, passed
            return
        length = next((int(value) for name, value in headers if name == b"content-length"), None)
        self._held = None
        self._chunked = length is None and self._request.accepts_chunks
        self._keep_alive = self._request.keep_alive and (length is not None or self._chunked)
        self._begin(
            response_head(status, passed, length=length, chunked=self._chunked, keep_alive=self._keep_alive)
        )

    def receive_data(self, chunk: bytes) -> None:
        """Pass a piece of the body on. If the program is not reading, pause the connection to the target."""
        if self.is_over or not chunk:
            return
        if self._held is not None:
            self._held += chunk
            if len(self._held) > MAX_ERROR_BYTES:
                self.send_error(HttpError(502, f"The target's error is larger than {MAX_ERROR_BYTES} bytes."))
            return
        self._connection.write(b"%x\r\n%b\r\n" % (len(chunk), chunk) if self._chunked else chunk)
        if self._connection.is_paused and self._carrier is not None:
            self._carrier.pause()
            if SLOW_READER_FLAG not in self.tee.meter.flags:
                self.tee.meter.flags.append(SLOW_READER_FLAG)

    def complete(self) -> None:
        """Complete the response. An error that was held back is sent now."""
        status, headers = self._head
        if self.is_over or 300 <= status < 400:
            return
        if self._held is not None:
            body = SECRETS.redact_json(bytes(self._held))
            head = response_head(status, headers, length=len(body), keep_alive=self._keep_alive)
            self._begin(head + body)
        elif self._chunked:
            self._connection.write(b"0\r\n\r\n")
        self._finish(self._keep_alive)

    # Called by the relay

    def send_complete_response(
        self, body: bytes, content_type: bytes = JSON_CONTENT_TYPE, status: int = 200
    ) -> None:
        """Send a response with a body that the relay itself created."""
        headers = (*RELAY_HEADERS, (b"content-type", content_type))
        head = response_head(status, headers, length=len(body), keep_alive=self._keep_alive)
        self._begin(head if self._request.method == b"HEAD" else head + body)
        self._finish(self._keep_alive)

    def send_error(self, refused: HttpError) -> None:
        """Send an error of the relay. If the response has begun, end it with `last_words`, or cut it off."""
        if self.is_over:
            return
        if self._begun and self.last_words is not None:
            self.receive_data(self.last_words(str(refused), refused.status))
            self.complete()
            return
        if self._begun:
            self._finish(keep_alive=False)
            return
        headers = (*RELAY_HEADERS, *refused.headers)
        body = refused.body(self._request.dialect)
        self._begin(json_response(refused.status, headers, body, keep_alive=self._keep_alive))
        self._finish(self._keep_alive)

    def _begin(self, data: bytes) -> None:
        self._begun = True
        if not self.is_over:
            self._connection.write(data)

    def _finish(self, keep_alive: bool) -> None:
        self.is_over = True
        self._carrier = None  # other responses use this connection from now on
        self._connection.finish_response(keep_alive)
