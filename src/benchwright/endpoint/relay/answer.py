"""One answer on its way from the target to whoever asked: passed on as it comes, held back only if it is an error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from benchwright.endpoint.connection import Connection
from benchwright.endpoint.connection import Headers as AnswerHeaders
from benchwright.endpoint.serving.connection import ServerConnection
from benchwright.endpoint.serving.http import (
    JSON,
    Headers,
    HttpError,
    HttpRequest,
    json_response,
    response_head,
)
from benchwright.endpoint.tee import Tee
from benchwright.secrets import SECRETS

HEADERS: Headers = ((b"server", b"benchwright-relay"),)
"""Headers of every answer that the relay gives of its own."""

SLOW_READER = "slow_reader"
"""Flag of a request whose answer had to wait for its reader: its times are not the server's alone."""

ASK_NO_MORE = (b"x-should-retry", b"false")
"""With an error that the relay has asked again about already: most clients heed it."""

LARGEST_ERROR = 1024 * 1024

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
"""Headers that concern two neighbours only (RFC 9110, 7.6.1), and cookies, which nobody here keeps."""


class RelayedAnswer:
    """Writes an answer to the connection of whoever asked; `tee` is the sink that feeds it.

    An error is held back until it is whole: should the target repeat the key in it, the key is taken out.
    A redirection is not passed on, as whoever asked is to stay here; the relay refuses the request instead. Where there
    are `last_words`, they say why an answer is cut off.
    """

    def __init__(self, connection: ServerConnection, request: HttpRequest) -> None:
        self.over = False
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

    # What the connection calls

    def abandon(self) -> None:
        """Whoever asked is gone: the target need not go on, unless it has said all."""
        self.over = True
        self.resume()
        self._carrier = None
        if self.task is not None and not self.tee.meter.announced:
            self.task.cancel()

    def resume(self) -> None:
        """Reads on from the target."""
        if self._carrier is not None:
            self._carrier.resume()

    # What the tee calls

    def carried(self, connection: Connection) -> None:
        """Keeps the connection to the target, to pause it when nobody reads here."""
        self._carrier = connection

    def head(self, status: int, headers: AnswerHeaders) -> None:
        """Begins the answer."""
        passed = [(name, value) for name, value in headers if name not in _OF_THE_CONNECTION]
        if status >= 300:
            self._held = bytearray()
            self._head = status, passed
            return
        length = next((int(value) for name, value in headers if name == b"content-length"), None)
        self._held = None
        self._chunked = length is None and self._request.chunks
        self._keep_alive = self._request.keep_alive and (length is not None or self._chunked)
        self._begin(
            response_head(status, passed, length=length, chunked=self._chunked, keep_alive=self._keep_alive)
        )

    def data(self, chunk: bytes) -> None:
        """Passes a piece on; has the target wait where it is not taken."""
        if self.over or not chunk:
            return
        if self._held is not None:
            self._held += chunk
            if len(self._held) > LARGEST_ERROR:
                self.refuse(HttpError(502, f"The target's error is larger than {LARGEST_ERROR} bytes."))
            return
        self._connection.write(b"%x\r\n%b\r\n" % (len(chunk), chunk) if self._chunked else chunk)
        if self._connection.paused and self._carrier is not None:
            self._carrier.pause()
            if SLOW_READER not in self.tee.meter.flags:
                self.tee.meter.flags.append(SLOW_READER)

    def end(self) -> None:
        """Completes the answer."""
        status, headers = self._head
        if self.over or 300 <= status < 400:
            return
        if self._held is not None:
            body = SECRETS.redact_json(bytes(self._held))
            head = response_head(status, headers, length=len(body), keep_alive=self._keep_alive)
            self._begin(head + body)
        elif self._chunked:
            self._connection.write(b"0\r\n\r\n")
        self._finish(self._keep_alive)

    # What the relay calls

    def whole(self, body: bytes, content_type: bytes = JSON, status: int = 200) -> None:
        """Answers with a body of the relay's own."""
        headers = (*HEADERS, (b"content-type", content_type))
        head = response_head(status, headers, length=len(body), keep_alive=self._keep_alive)
        self._begin(head if self._request.method == b"HEAD" else head + body)
        self._finish(self._keep_alive)

    def refuse(self, refused: HttpError) -> None:
        """Answers with an error of the relay's own; an answer that has begun ends with last words, or is cut off."""
        if self.over:
            return
        if self._begun and self.last_words is not None:
            self.data(self.last_words(str(refused), refused.status))
            self.end()
            return
        if self._begun:
            self._finish(keep_alive=False)
            return
        headers = (*HEADERS, *refused.headers)
        body = refused.body(self._request.dialect)
        self._begin(json_response(refused.status, headers, body, keep_alive=self._keep_alive))
        self._finish(self._keep_alive)

    def _begin(self, data: bytes) -> None:
        self._begun = True
        if not self.over:
            self._connection.write(data)

    def _finish(self, keep_alive: bool) -> None:
        self.over = True
        self._carrier = None  # it carries other answers from now on
        self._connection.finished(keep_alive)
