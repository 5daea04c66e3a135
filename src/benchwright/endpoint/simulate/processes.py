"""Server processes of the simulated endpoint for the command line: a single process, or several that share a port."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import traceback
from collections.abc import Callable
from typing import NoReturn

import msgspec

from benchwright.endpoint.serving.listener import LOOPBACK_HOST, base_url, listen, start_server, stop_server
from benchwright.endpoint.simulate.settings import Settings
from benchwright.endpoint.simulate.shared_counters import EndpointStats, SharedCounters
from benchwright.endpoint.simulate.simulator import Simulator
from benchwright.endpoint.simulate.truth_log import open_truth_file
from benchwright.errors import UserError
from benchwright.text import Say

_STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}


class _Shared(msgspec.Struct):
    """Data that all processes have in common. `listeners`: one socket per process, all on the same port."""

    settings: Settings
    board: SharedCounters
    truth: int | None
    listeners: list[socket.socket]


def serve(
    settings: Settings,
    *,
    host: str = LOOPBACK_HOST,
    port: int = 0,
    processes: int = 1,
    announce: Say,
) -> EndpointStats:
    """Serve until SIGTERM or SIGINT, and return the statistics. Must be called before any thread starts.

    `announce`: called with the base URL once connections are accepted. If there are several processes, the
    kernel distributes the connections over them. All of them end together with this process, however it ends.

    Raises:
        UserError: If the address or the truth log cannot be used, or if one of several processes died.
    """
    truth = open_truth_file(settings.truth_file)
    listeners = [listen(host, port, shared=processes > 1)]
    for _ in range(processes - 1):
        listeners.append(listen(host, listeners[0].getsockname()[1], shared=True))
    shared = _Shared(settings, SharedCounters(processes, len(settings.answers)), truth, listeners)
    if processes == 1:
        announce(base_url(listeners[0]))
        _run(shared, 0)
    else:
        _run_children(shared, announce)
    return shared.board.stats()


def _run(shared: _Shared, process: int, lifeline: int | None = None) -> None:
    """Serve in this process until a signal arrives.

    `lifeline`: a pipe to the parent process. If it is given, also stop when the parent's end of the pipe is
    closed.
    """

    async def serve_until_stopped() -> None:
        loop = asyncio.get_running_loop()
        stopped = asyncio.Event()
        for number in _STOP_SIGNALS:
            loop.add_signal_handler(number, stopped.set)
        if lifeline is not None:
            loop.add_reader(lifeline, stopped.set)
        simulator = Simulator(shared.settings, loop, shared.board, shared.truth, process)
        server = await start_server(simulator, shared.listeners[process])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
        await stopped.wait()
        await stop_server(simulator, server)

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve_until_stopped())


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        from uvloop import new_event_loop
    except ImportError:
        return asyncio.new_event_loop
    return new_event_loop


def _run_children(shared: _Shared, announce: Say) -> None:
    awaited = {*_STOP_SIGNALS, signal.SIGCHLD}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    lifeline, held = os.pipe()
    url = base_url(shared.listeners[0])
    children = []
    for process in range(len(shared.listeners)):
        child = os.fork()
        if child == 0:
            os.close(held)
            _run_child(shared, process, lifeline)
        children.append(child)
    for listener in shared.listeners:
        listener.close()
    try:
        announce(url)
        received = signal.sigwait(awaited)
    finally:
        for child in children:
            os.kill(child, signal.SIGTERM)
        for child in children:
            os.waitpid(child, 0)
        os.close(lifeline)
        os.close(held)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if received == signal.SIGCHLD:
        raise UserError("One of the processes of the simulated endpoint died.")


def _run_child(shared: _Shared, process: int, lifeline: int) -> NoReturn:
    """Serve in a forked process. Then exit, without returning into the parent's code."""
    status = 1
    try:
        for other in shared.listeners:
            if other is not shared.listeners[process]:
                other.close()
        _run(shared, process, lifeline)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)
