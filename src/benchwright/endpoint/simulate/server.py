"""A simulated endpoint in the event loop that runs already, for tests and the demo."""

from __future__ import annotations

import asyncio
import socket
from types import TracebackType

from benchwright.endpoint.simulate.board import Board, Stats
from benchwright.endpoint.simulate.connection import Connection
from benchwright.endpoint.simulate.settings import Settings
from benchwright.endpoint.simulate.simulator import Simulator
from benchwright.endpoint.simulate.truth import Truth, open_truth_file
from benchwright.errors import UserError

LOOPBACK = "127.0.0.1"
_BACKLOG = 4096
_DEFAULTS = Settings()


class SimulatedEndpoint:
    """A simulated endpoint in the running event loop.

        async with SimulatedEndpoint(Settings(policy="words")) as endpoint:
            ... endpoint.base_url ...

    Raises (on entering):
        UserError: the address is taken, or the truth log cannot be written.
    """

    def __init__(self, settings: Settings = _DEFAULTS, *, host: str = LOOPBACK, port: int = 0) -> None:
        self.base_url = ""
        self._settings = settings
        self._host = host
        self._port = port
        self._board = Board(1, len(settings.answers))
        self._simulator: Simulator | None = None
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> SimulatedEndpoint:
        listener = listen(self._host, self._port)
        try:
            descriptor = open_truth_file(self._settings.truth_file)
        except UserError:
            listener.close()
            raise
        self.base_url = base_url(listener)
        self._simulator = Simulator(self._settings, asyncio.get_running_loop(), self._board, descriptor)
        self._server = await accept(self._simulator, listener)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._simulator is not None
        assert self._server is not None
        await stop(self._simulator, self._server)

    @property
    def log(self) -> list[Truth]:
        """What the server knows of the last requests, in the order in which they ended."""
        return list(self._simulator.truth.records) if self._simulator else []

    @property
    def stats(self) -> Stats:
        """What happened so far."""
        return self._board.stats()


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A listening socket; with `shared`, others may listen on the same port.

    Raises:
        UserError: the address cannot be used.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
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


def base_url(listener: socket.socket) -> str:
    """The base URL under which the socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


async def accept(simulator: Simulator, listener: socket.socket) -> asyncio.Server:
    """Has the simulator answer whoever connects."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: Connection(simulator), sock=listener, backlog=_BACKLOG)


async def stop(simulator: Simulator, server: asyncio.Server) -> None:
    """Stops listening and ends all connections."""
    server.close()
    simulator.close()
    await asyncio.sleep(0)  # connections hear of their end
    await server.wait_closed()
