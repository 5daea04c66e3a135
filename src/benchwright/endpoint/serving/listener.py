"""Listening sockets, the base URLs of these sockets, and servers that accept connections on them."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from benchwright.endpoint.serving.connection import RequestHandler, ServerConnection
from benchwright.errors import UserError

LOOPBACK_HOST = "127.0.0.1"
_BACKLOG = 4096


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Return a listening socket. `shared`: True to let other sockets listen on the same port.

    Raises:
        UserError: If the address cannot be used.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)  # asyncio sets TCP_NODELAY only if it sees TCP
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if shared:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise UserError(f"Cannot listen on {host} port {port}: {error.strerror}.") from None
    listener.setblocking(False)
    return listener


def listen_on_unix_socket(path: Path) -> socket.socket:
    """Return a listening Unix socket, to which every user of this machine may connect.

    Raises:
        UserError: If the path cannot be used.
    """
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise UserError(f"Cannot listen at {path}: {error.strerror or error}.") from None
    listener.setblocking(False)
    return listener


def base_url(listener: socket.socket) -> str:
    """Return the base URL at which clients reach the listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


async def start_server(handler: RequestHandler, listener: socket.socket) -> asyncio.Server:
    """Return a server that accepts connections on the socket, and lets the handler respond to their requests."""
    loop = asyncio.get_running_loop()
    if listener.family == socket.AF_UNIX:
        return await loop.create_unix_server(
            lambda: ServerConnection(handler), sock=listener, backlog=_BACKLOG
        )
    return await loop.create_server(lambda: ServerConnection(handler), sock=listener, backlog=_BACKLOG)


async def stop_server(handler: RequestHandler, server: asyncio.Server) -> None:
    """Stop listening and end all connections."""
    server.close()
    for _ in range(3):  # a connection that was just accepted appears one step later
        handler.close()
        await asyncio.sleep(0)
    await server.wait_closed()
