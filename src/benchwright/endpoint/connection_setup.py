"""Opening of connections: TCP, then CONNECT if a proxy is configured, then TLS if the address requires it."""

from __future__ import annotations

import asyncio
import ssl

from benchwright.endpoint.address import Address, Proxy
from benchwright.endpoint.connection import Connection, TransportError
from benchwright.endpoint.tls import (
    NO_TLS_FILES,
    TlsFiles,
    certificate_path_problem,
    certificate_refusal,
    tls_context,
)

MAX_PROXY_ANSWER_BYTES = 16_384


async def open_connection(
    address: Address, proxy: Proxy | None, limit: float, files: TlsFiles = NO_TLS_FILES
) -> Connection:
    """Open a connection within `limit` seconds, and return it.

    `files`: the TLS files, used if the address requires TLS.

    Raises:
        TransportError: If no connection could be opened. Kind `connect` (refused, unknown host, TLS failure,
            proxy refusal) or `connect_timeout`.
    """
    try:
        async with asyncio.timeout(limit):
            if proxy is None:
                return await _direct(address, files)
            return await _through(proxy, address, files)
    except TimeoutError:
        raise TransportError("connect_timeout", f"no connection within {limit:g} s") from None
    except ssl.SSLCertVerificationError as error:
        why = f"the server's certificate is not trusted: {error.verify_message}{certificate_path_problem()}"
        raise TransportError("connect", why) from None
    except ssl.SSLError as error:
        why = certificate_refusal(error) or f"TLS failed: {error.reason or error}"
        raise TransportError("connect", why) from None
    except OSError as error:
        raise TransportError("connect", _reason(error)) from None


async def _direct(address: Address, files: TlsFiles) -> Connection:
    loop = asyncio.get_running_loop()
    if address.socket_path is not None:
        _, connection = await loop.create_unix_connection(lambda: Connection(loop), address.socket_path)
        return connection
    context = tls_context(files) if address.uses_tls else None
    _, connection = await loop.create_connection(
        lambda: Connection(loop), address.host, address.port, ssl=context
    )
    return connection


async def _through(proxy: Proxy, address: Address, files: TlsFiles) -> Connection:
    loop = asyncio.get_running_loop()
    try:
        transport, tunnel = await loop.create_connection(lambda: _Tunnel(loop), proxy.host, proxy.port)
    except OSError as error:
        raise TransportError("connect", f"the proxy {proxy.host}:{proxy.port}: {_reason(error)}") from None
    try:
        host = f"[{address.host}]" if ":" in address.host else address.host
        target = f"{host}:{address.port}"
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if proxy.authorization:
            lines.append(f"Proxy-Authorization: {proxy.authorization}")
        transport.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        status = await tunnel.status
        if not 200 <= status < 300:
            raise TransportError(
                "connect", f"the proxy {proxy.host}:{proxy.port} answered {status} to CONNECT"
            )
        connection = Connection(loop)
        if address.uses_tls:
            encrypted = await loop.start_tls(
                transport, connection, tls_context(files), server_hostname=address.host
            )
            assert encrypted is not None
            connection.connection_made(encrypted)
        else:
            transport.set_protocol(connection)
            connection.connection_made(transport)
        return connection
    except BaseException:
        transport.abort()
        raise


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


class _Tunnel(asyncio.Protocol):
    """Protocol of a connection to a proxy, until the proxy's response to CONNECT is complete."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.status: asyncio.Future[int] = loop.create_future()
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self.status.done():
            return
        if b"\r\n\r\n" in self._received:
            words = self._received.split(b"\r\n", 1)[0].split()
            valid = len(words) >= 2 and words[0].startswith(b"HTTP/1.") and words[1].isdigit()
            self.status.set_result(int(words[1]) if valid else 0)
        elif len(self._received) > MAX_PROXY_ANSWER_BYTES:
            self.status.set_result(0)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.status.done():
            self.status.set_exception(TransportError("connect", "the proxy closed the connection"))
