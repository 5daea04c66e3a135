"""Serving: in this process for tests and the demo, or in several processes for the command."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Sequence
from types import TracebackType

from benchwright.endpoint.simulate.board import Board, Stats
from benchwright.endpoint.simulate.connection import Connection
from benchwright.endpoint.simulate.settings import Settings
from benchwright.endpoint.simulate.simulator import Simulator
from benchwright.endpoint.simulate.truth import Truth
from benchwright.errors import UserError

LOOPBACK = "127.0.0.1"
_BACKLOG = 4096
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_DEFAULTS = Settings()


class SimulatedEndpoint:
    """A simulated endpoint in the running event loop.

        async with SimulatedEndpoint(Settings(policy="words")) as endpoint:
            ... endpoint.base_url ...

    Raises (on entering):
        UserError: the address is taken, or the truth log cannot be written.
    """

    def __init__(self, settings: Settings = _DEFAULTS, *, host: str = LOOPBACK, port: int = 0) -> None:
        self._board = Board(1, len(settings.answers))
        self._settings = settings
        self._host = host
        self._port = port
        self._simulator: Simulator | None = None
        self._server: asyncio.Server | None = None
        self.base_url = ""

    async def __aenter__(self) -> SimulatedEndpoint:
        listener = listen(self._host, self._port)
        self.base_url = base_url(listener)
        loop = asyncio.get_running_loop()
        self._simulator, self._server = await _start(self._settings, loop, self._board, 0, listener)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        assert self._simulator is not None
        await _stop(self._simulator, self._server)

    @property
    def log(self) -> list[Truth]:
        """What the server knows of the last requests, in the order in which they ended."""
        return list(self._simulator.truth.records) if self._simulator else []

    @property
    def stats(self) -> Stats:
        """What happened so far."""
        return self._board.stats()


def serve(
    settings: Settings,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    processes: int = 1,
    announce: Callable[[str], None],
) -> Stats:
    """Serves until SIGTERM or SIGINT, and returns what happened.

    `announce` gets the base URL once connections are accepted. Several processes share the port; the kernel
    spreads connections over them. They end with this one, however it ends. Call it before any thread starts.

    Raises:
        UserError: the address cannot be used, or one of several processes died.
    """
    listeners = [listen(host, port, shared=processes > 1)]
    for _ in range(processes - 1):
        listeners.append(listen(host, listeners[0].getsockname()[1], shared=True))
    board = Board(processes, len(settings.answers))
    if processes == 1:
        announce(base_url(listeners[0]))
        _run(settings, board, 0, listeners[0])
    else:
        _serve_in_processes(settings, board, listeners, announce)
    return board.stats()


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


async def _start(
    settings: Settings, loop: asyncio.AbstractEventLoop, board: Board, process: int, listener: socket.socket
) -> tuple[Simulator, asyncio.Server]:
    try:
        simulator = Simulator(settings, loop, board, process)
    except UserError:
        listener.close()
        raise
    server = await loop.create_server(lambda: Connection(simulator), sock=listener, backlog=_BACKLOG)
    return simulator, server


async def _stop(simulator: Simulator, server: asyncio.Server) -> None:
    server.close()
    simulator.close()
    await asyncio.sleep(0)  # connections hear of their end
    await server.wait_closed()


def _run(
    settings: Settings, board: Board, process: int, listener: socket.socket, lifeline: int | None = None
) -> None:
    """Serves in this process until a signal, or until the other end of the lifeline is gone."""

    async def serve_until_stopped() -> None:
        loop = asyncio.get_running_loop()
        stopped = asyncio.Event()
        for number in _STOP_SIGNALS:
            loop.add_signal_handler(number, stopped.set)
        if lifeline is not None:
            loop.add_reader(lifeline, stopped.set)
        simulator, server = await _start(settings, loop, board, process, listener)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
        await stopped.wait()
        await _stop(simulator, server)

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve_until_stopped())


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        from uvloop import new_event_loop
    except ImportError:
        return asyncio.new_event_loop
    return new_event_loop


def _serve_in_processes(
    settings: Settings, board: Board, listeners: Sequence[socket.socket], announce: Callable[[str], None]
) -> None:
    signals = {*_STOP_SIGNALS, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    lifeline, held = os.pipe()
    children = []
    for process in range(len(listeners)):
        child = os.fork()
        if child == 0:
            os.close(held)
            _run_child(settings, board, process, listeners, lifeline)
        children.append(child)
    for listener in listeners[1:]:
        listener.close()
    announce(base_url(listeners[0]))
    listeners[0].close()
    received = signal.sigwait(signals)
    for child in children:
        os.kill(child, signal.SIGTERM)
    for child in children:
        os.waitpid(child, 0)
    os.close(lifeline)
    os.close(held)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if received == signal.SIGCHLD:
        raise UserError("One of the processes of the simulated endpoint died.")


def _run_child(
    settings: Settings, board: Board, process: int, listeners: Sequence[socket.socket], lifeline: int
) -> None:
    """Runs one process and leaves it without returning to what the parent was doing."""
    status = 1
    try:
        for other in listeners:
            if other is not listeners[process]:
                other.close()
        _run(settings, board, process, listeners[process], lifeline)
        status = 0
    except UserError as error:
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(status)
