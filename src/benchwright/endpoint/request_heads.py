"""Heads of HTTP requests to one target. A head is the request line and the headers, with the key.

Heads are cached, because most requests have equal heads.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchwright import __version__
from benchwright.endpoint.access import NO_KEY_PLACEHOLDER, Access
from benchwright.endpoint.address import Address
from benchwright.endpoint.dialects import DIALECTS

BEARER_HEADER = "Authorization: Bearer"
REQUEST_ID_HEADER = "X-Request-Id"

JSON_HEADERS = (("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json"))


def header_lines(
    address: Address,
    access: Access,
    own: Sequence[tuple[str, str]],
    key_headers: Sequence[str] = (BEARER_HEADER,),
) -> list[str]:
    """Return the header lines of a request.

    These are Benchwright's headers (`own`), the key in the headers `key_headers`, and the user's headers. A
    header of the user replaces a header of the same name.
    """
    lines = [("Host", address.authority), ("User-Agent", f"benchwright/{__version__}")]
    lines += [("Accept-Encoding", "identity"), *own]
    if access.api_key and access.api_key != NO_KEY_PLACEHOLDER:
        for header in key_headers:
            name, _, scheme = header.partition(":")
            lines.append((name, f"{scheme} {access.api_key}".strip()))
    theirs = access.header_names
    lines = [(name, value) for name, value in lines if name.lower() not in theirs]
    lines += [(header.name, header.value) for header in access.headers]
    return [f"{name}: {value}" for name, value in lines]


class RequestHeadCache:
    """Cache of request lines and headers. The key of an entry is the path of the request."""

    def __init__(self, address: Address, model: str, access: Access) -> None:
        self._address = address
        self._model = model
        self._access = access
        self._names = access.header_names
        self.sends_id = REQUEST_ID_HEADER.lower() not in self._names
        """True if requests carry Benchwright's request id; False if the user sets the header for it."""
        self.optional = [REQUEST_ID_HEADER] * self.sends_id + [header.name for header in access.headers]
        """Names of the headers that a server may refuse, because it does not need them."""
        self._starts = {
            path: "\r\n".join(
                [
                    f"POST {self.request_target(path)} HTTP/1.1",
                    *header_lines(address, access, JSON_HEADERS, find_key_headers(path)),
                ]
            ).encode()
            for path in ("/chat/completions", "/completions", *DIALECTS)
        }

    def request_target(self, path: str) -> str:
        """Return the request target for a path below the base URL, or for a dialect's path."""
        dialect = DIALECTS.get(path)
        prefix = self._address.path_prefix
        place = prefix if dialect is None else dialect.url_prefix(prefix, self._model)
        return self._address.request_target(place + path)

    def target_without_v1(self, path: str) -> str:
        """Return the request target of a path that takes the place of the base URL's /v1, such as /metrics."""
        return self._address.request_target(self._address.path_prefix.removesuffix("/v1") + path)

    def make_head(
        self,
        path: str,
        identity: str,
        length: int,
        more: Sequence[tuple[bytes, bytes]] = (),
        *,
        with_id: bool = True,
    ) -> bytes:
        """Return the head of a request whose body has this length.

        `more`: headers of the program that sends the request through the relay.
        """
        between = b"\r\nX-Request-Id: %b" % identity.encode() if with_id and self.sends_id else b""
        for name, value in more:
            if name.decode("latin-1").lower() not in self._names:
                between += b"\r\n%b: %b" % (name, value)
        return b"%b%b\r\nContent-Length: %d\r\n\r\n" % (self._starts[path], between, length)


def find_key_headers(path: str) -> tuple[str, ...]:
    """Return the headers in which a server expects the key at this path."""
    dialect = DIALECTS.get(path)
    return (BEARER_HEADER,) if dialect is None else dialect.key_headers
