"""Received requests, the heads of responses, and error responses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

import msgspec

from benchwright.endpoint.dialects.errors import gemini_error, messages_error, openai_error

MAX_BODY_BYTES = 64 * 1024 * 1024

JSON_CONTENT_TYPE = b"application/json"

Headers = tuple[tuple[bytes, bytes], ...]

_BEARER = re.compile(rb"bearer +(\S+)", re.IGNORECASE)

_GEMINI = re.compile(rb"(?:/+v1)*/+v1(?:alpha|beta)|.*/models/.*:")

_STATUS_LINES = {
    int(status): b"HTTP/1.1 %d %b\r\n" % (status, status.phrase.encode()) for status in HTTPStatus
}


class HttpRequest(msgspec.Struct):
    """A request that was received as a whole.

    `path`: the path without the query. `query`: the query, which may hold a key and so is never shown.
    `headers`: a mapping from the name in lower case to the value. `received_at`: the time at which the last
    byte was read (`perf_counter_ns`). `accepts_chunks`: True if the client accepts a chunked body (HTTP/1.1).
    """

    method: bytes
    path: bytes
    headers: dict[bytes, bytes]
    body: bytes
    received_at: int
    keep_alive: bool = True
    accepts_chunks: bool = True
    query: bytes = b""

    @property
    def id(self) -> str:
        """The value of the client's header x-request-id; "" if the client sends none."""
        return self.headers.get(b"x-request-id", b"").decode("latin-1")

    @property
    def dialect(self) -> str:
        """Dialect in which the client expects errors: chat, messages or gemini."""
        if b"/messages" in self.path or b"anthropic-version" in self.headers:
            return "messages"
        return "gemini" if _GEMINI.match(self.path) else "chat"

    @property
    def api_key(self) -> bytes:
        """The client's key; b"" if there is none. The key may be in any of the headers for keys, or in the query."""
        bearer = _BEARER.fullmatch(self.headers.get(b"authorization", b""))
        shown = bearer[1] if bearer else b""
        shown = shown or self.headers.get(b"x-api-key", b"") or self.headers.get(b"x-goog-api-key", b"")
        asked = (field.partition(b"=") for field in self.query.split(b"&"))
        return shown or next((unquote_to_bytes(value) for name, _, value in asked if name == b"key"), b"")


class HttpError(Exception):
    """Raised to send an error response. It holds an HTTP status, and an error object in the format of a dialect."""

    def __init__(
        self,
        status: int,
        message: str,
        kind: str = "invalid_request_error",
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Headers = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers
        self._fields = message, kind, code, param

    def body(self, dialect: str = "chat") -> bytes:
        """Return the error as a response body in the format of a dialect."""
        if dialect == "messages":
            return msgspec.json.encode(messages_error(self.status, str(self)))
        if dialect == "gemini":
            return msgspec.json.encode(gemini_error(self.status, str(self)))
        return msgspec.json.encode(openai_error(*self._fields))


def response_head(
    status: int,
    headers: Iterable[tuple[bytes, bytes]],
    *,
    length: int | None = None,
    chunked: bool = False,
    keep_alive: bool = True,
) -> bytes:
    """Return the status line and headers of a response.

    If neither `length` nor `chunked` is given, the response's body ends when the connection closes.
    """
    lines = [_STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status]
    lines += [b"%b: %b\r\n" % header for header in headers]
    if length is not None:
        lines.append(b"content-length: %d\r\n" % length)
    if chunked:
        lines.append(b"transfer-encoding: chunked\r\n")
    if not keep_alive:
        lines.append(b"connection: close\r\n")
    lines.append(b"\r\n")
    return b"".join(lines)


def json_response(
    status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes, *, keep_alive: bool = True
) -> bytes:
    """Return a whole response with a JSON body."""
    typed = [*headers, (b"content-type", JSON_CONTENT_TYPE)]
    return response_head(status, typed, length=len(body), keep_alive=keep_alive) + body
