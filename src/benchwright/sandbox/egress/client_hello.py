"""Reads the server name in a TLS client's first message.

Many hosts share an address, and the server name selects the host that answers. Therefore it must be checked.
The message is the first handshake message (RFC 8446, 4.1.2; RFC 6066, 3). An encrypted name cannot be
checked.
"""

from __future__ import annotations

import asyncio

MAX_HELLO_BYTES = 16 * 1024
_HANDSHAKE, _CLIENT_HELLO = 22, 1
_SERVER_NAME, _ENCRYPTED_HELLO = 0, 0xFE0D


class NoServerName(Exception):
    """Raised if data are not a TLS handshake with a server name. The message states the reason."""


async def read_hello(reader: asyncio.StreamReader) -> tuple[bytes, str]:
    """Read a client's first message. Return its bytes, and the server name in lower case.

    Raises:
        NoServerName: If the message is not a TLS handshake with a server name. asyncio.IncompleteReadError:
            If the connection ends too early.
    """
    raw, message = b"", b""
    while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4]):
        header = await reader.readexactly(5)
        length = int.from_bytes(header[3:5])
        if header[0] != _HANDSHAKE or header[1] != 3 or length == 0 or len(raw) + length > MAX_HELLO_BYTES:
            raise NoServerName("the tunnel does not begin with TLS")
        piece = await reader.readexactly(length)
        raw += header + piece
        message += piece
        if message[0] != _CLIENT_HELLO:
            raise NoServerName("the tunnel does not begin with TLS")
    return raw, server_name(message[4 : 4 + int.from_bytes(message[1:4])])


def server_name(hello: bytes) -> str:
    """Return the server name in a ClientHello, in lower case.

    Raises:
        NoServerName: If there is no server name, if it is encrypted, or if the message is malformed.
    """
    fields = _Fields(hello)
    fields.take(34)
    for width in (1, 2, 1):  # session, cipher suites, compression
        fields.take_sized(width)
    extensions, found = _Fields(fields.take_sized(2)), []
    while extensions.left:
        kind, body = int.from_bytes(extensions.take(2)), extensions.take_sized(2)
        if kind == _ENCRYPTED_HELLO:
            raise NoServerName("the name of the server is encrypted")
        if kind == _SERVER_NAME:
            found.append(body)
    if len(found) != 1:
        raise NoServerName("TLS names no server")
    names = _Fields(_Fields(found[0]).take_sized(2))
    if names.take(1) != b"\0":
        raise NoServerName("TLS names no server")
    name = names.take_sized(2)
    if names.left or not name.isascii():
        raise NoServerName("TLS names no server")
    return name.decode().lower().removesuffix(".")


class _Fields:
    """Reads consecutive fields from a byte string."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def left(self) -> int:
        return len(self._data)

    def take(self, count: int) -> bytes:
        if count > len(self._data):
            raise NoServerName("TLS is not written as it must be")
        taken, self._data = self._data[:count], self._data[count:]
        return taken

    def take_sized(self, width: int) -> bytes:
        return self.take(int.from_bytes(self.take(width)))
