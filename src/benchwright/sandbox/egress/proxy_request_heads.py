"""Parses clients' requests to the proxy strictly. Ambiguous requests are refused.

Without TLS, only requests without a body are forwarded, one per connection, with a rewritten head. So a
client cannot hide a second request in a first one.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final

from benchwright.records import Record

MAX_HEAD_BYTES: Final = 16 * 1024
"""Maximum size of a request's head in bytes, including the empty line at its end."""
MAX_HEADER_FIELDS = 100

_LINE = re.compile(rb"([A-Z]{1,16}) ([\x21-\x7e]{1,8192}) HTTP/1\.[01]")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\x80-\xff\t]*?)[ \t]*")
_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[^\s:/?#@\[\]\\]{1,253})(?::(\d{1,5}))?")
_ABSOLUTE = re.compile(r"http://([^/?#\s]*)(/[^\s#]*|\?[^\s#]*)?", re.IGNORECASE)
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
_HOP = frozenset(
    (
        *(b"connection", b"proxy-connection", b"keep-alive", b"te", b"trailer", b"upgrade", b"host"),
        *(b"proxy-authorization", b"proxy-authenticate", b"transfer-encoding", b"content-length", b"expect"),
    )
)
"""Names of header fields that are not forwarded: they concern only client and proxy, or announce a body."""


class RequestRefused(Exception):
    """Raised if a request is not forwarded. It has the HTTP status of the response, and the reason."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class RequestHead(Record, frozen=True):
    """The head of an HTTP request: its request line, and its header fields with names in lower case."""

    method: str
    target: str
    fields: list[tuple[bytes, bytes]]

    def header_values(self, name: bytes) -> list[bytes]:
        """Return all values of a header field. `name`: the field's name in lower case."""
        return [value for field, value in self.fields if field == name]


class ProxyRequest(Record, frozen=True):
    """The content of a client's request: a tunnel to a host, or a plain HTTP request to a host.

    `head`: the rewritten head of a plain request; None for a tunnel.
    """

    host: str
    port: int
    head: bytes | None = None

    @property
    def is_tunnel(self) -> bool:
        """True if the client requested a tunnel (CONNECT)."""
        return self.head is None


def parse_head(data: bytes) -> RequestHead:
    """Parse a request's head, including the empty line at its end.

    Raises:
        RequestRefused: If the head is not unambiguous HTTP/1.
    """
    first, *lines = data.removesuffix(b"\r\n\r\n").split(b"\r\n")
    line = _LINE.fullmatch(first)
    fields = [_FIELD.fullmatch(one) for one in lines]
    if line is None or len(fields) > MAX_HEADER_FIELDS or not all(fields):
        raise RequestRefused(400, "this is no request in HTTP/1 as it must be written")
    return RequestHead(
        line[1].decode(), line[2].decode(), [(one[1].lower(), one[2]) for one in fields if one]
    )


def read_grant_token(head: RequestHead) -> str:
    """Return the token of the client's grant, which is the password of the client's proxy login.

    Return "" without one.
    """
    given = head.header_values(b"proxy-authorization")
    scheme, _, encoded = (given[0] if len(given) == 1 else b"").partition(b" ")
    if scheme.lower() != b"basic":
        return ""
    try:
        return base64.b64decode(encoded.strip(), validate=True).decode("ascii").partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


def parse_request(head: RequestHead) -> ProxyRequest:
    """Convert a head into the tunnel or the plain request that the client asks for.

    Raises:
        RequestRefused: If the head is not one of a request to a proxy, if it contradicts itself, or if the
            request has a body without TLS.
    """
    if head.method == "CONNECT":
        host, port = _authority(head.target)
        if port is None:
            raise RequestRefused(400, "CONNECT names a host and a port")
        _check_host_field(head, host, port)
        return ProxyRequest(host, port)
    target = _ABSOLUTE.fullmatch(head.target)
    if target is None:
        raise RequestRefused(
            400, "a proxy is asked with CONNECT, or for a whole URL that begins with http://"
        )
    host, given = _authority(target[1])
    port = 80 if given is None else given
    _check_host_field(head, host, port)
    _check_no_body(head)
    path = target[2] or "/"
    return ProxyRequest(host, port, _written(head, f"/{path}" if path.startswith("?") else path, target[1]))


def parse_target_for_log(target: str) -> tuple[str, int]:
    """Return the host and port that a request target names, as far as recognisable, for the log.

    The port is 0 if it is unknown.
    """
    rest = target.partition("://")[2] or target
    where = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    found = _AUTHORITY.fullmatch(where)
    if found is None:
        return where[:253], 0
    return found[1].strip("[]").lower(), int(found[2] or (80 if "://" in target else 0))


def _authority(text: str) -> tuple[str, int | None]:
    if "@" in text:
        raise RequestRefused(400, "a name and a password in a URL are not passed on")
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        raise RequestRefused(400, "this names no host")
    port = None if found[2] is None else int(found[2])
    if port is not None and not 0 < port < 65536:
        raise RequestRefused(400, "this is no port")
    return found[1].strip("[]").lower().removesuffix("."), port


def _check_host_field(head: RequestHead, host: str, port: int) -> None:
    given = head.header_values(b"host")
    if len(given) > 1:
        raise RequestRefused(400, "there is more than one field Host")
    if not given:
        return
    named, its_port = _authority(given[0].decode("latin-1"))
    default = 443 if head.method == "CONNECT" else 80
    if named != host or (default if its_port is None else its_port) != port:
        raise RequestRefused(400, "the field Host names another host than the URL")


def _check_no_body(head: RequestHead) -> None:
    lengths = head.header_values(b"content-length")
    if head.method not in _WITHOUT_BODY:
        raise RequestRefused(405, f"without TLS only {', '.join(_WITHOUT_BODY)} are passed on")
    if (
        head.header_values(b"transfer-encoding")
        or any(length != b"0" for length in lengths)
        or len(lengths) > 1
    ):
        raise RequestRefused(400, "without TLS no body is passed on")


def _written(head: RequestHead, path: str, authority: str) -> bytes:
    """Return the bytes of a plain request's head, as sent to the server."""
    named = {one.strip().lower() for value in head.header_values(b"connection") for one in value.split(b",")}
    kept = [(name, value) for name, value in head.fields if name not in _HOP | named]
    return _lines(
        f"{head.method} {path} HTTP/1.1", {b"host": authority.encode(), b"connection": b"close"}, kept
    )


def _lines(first: str, own: Mapping[bytes, bytes], fields: list[tuple[bytes, bytes]]) -> bytes:
    lines = [first.encode(), *(name + b": " + value for name, value in (*own.items(), *fields))]
    return b"\r\n".join(lines) + b"\r\n\r\n"
