"""The beginnings of requests to one target: where each is asked, with which key, and what all of them say."""

from __future__ import annotations

from benchwright import __version__
from benchwright.endpoint.address import Address
from benchwright.endpoint.dialects import DIALECTS


class Heads:
    """Request lines and headers, by the path of a request below the base URL, or that of a dialect."""

    def __init__(self, address: Address, model: str, key: str | None) -> None:
        self._prefix = address.prefix
        self._model = model
        self._key = key if key and key != "EMPTY" else None
        lines = [
            f"Host: {address.authority}",
            f"User-Agent: benchwright/{__version__}",
            "Accept: application/json, text/event-stream",
            "Accept-Encoding: identity",
            "Content-Type: application/json",
        ]
        self._starts = {
            path: "\r\n".join([f"POST {self.target(path)} HTTP/1.1", *lines, *self.keys(path)]).encode()
            for path in ("/chat/completions", "/completions", *DIALECTS)
        }

    def target(self, path: str) -> str:
        """Where the server is asked."""
        dialect = DIALECTS.get(path)
        return (self._prefix if dialect is None else dialect.place(self._prefix, self._model)) + path

    def beside(self, path: str) -> str:
        """Returns where a path is that lies beside /v1, as /metrics does."""
        return self._prefix.removesuffix("/v1") + path

    def keys(self, path: str) -> list[str]:
        """The headers that hold the key, if there is one."""
        dialect = DIALECTS.get(path)
        names = ("Authorization: Bearer",) if dialect is None else dialect.key_headers
        return [] if self._key is None else [f"{name} {self._key}" for name in names]

    def of(self, path: str, identity: str, length: int, more: bytes = b"") -> bytes:
        """The head of a request with a body of this length; `more` are further headers."""
        return b"%b%b\r\nX-Request-Id: %b\r\nContent-Length: %d\r\n\r\n" % (
            self._starts[path],
            more,
            identity.encode(),
            length,
        )
