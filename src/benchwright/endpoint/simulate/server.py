"""A simulated endpoint in the running event loop, for tests and the demo."""

from __future__ import annotations

import asyncio
from types import TracebackType

from benchwright.endpoint.serving.listener import LOOPBACK_HOST, base_url, listen, start_server, stop_server
from benchwright.endpoint.simulate.settings import Settings
from benchwright.endpoint.simulate.shared_counters import EndpointStats, SharedCounters
from benchwright.endpoint.simulate.simulator import Simulator
from benchwright.endpoint.simulate.truth_log import TruthRecord, open_truth_file
from benchwright.errors import UserError

_DEFAULTS = Settings()


class SimulatedEndpoint:
    """A simulated endpoint in the running event loop.

        async with SimulatedEndpoint(Settings(policy="words")) as endpoint:
            ... endpoint.base_url ...

    Raises (on entering):
        UserError: If the address is taken, or the truth log cannot be written.
    """

    def __init__(self, settings: Settings = _DEFAULTS, *, host: str = LOOPBACK_HOST, port: int = 0) -> None:
        self.base_url = ""
        self._settings = settings
        self._host = host
        self._port = port
        self._board = SharedCounters(1, len(settings.answers))
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
        self._server = await start_server(self._simulator, listener)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._simulator is not None
        assert self._server is not None
        await stop_server(self._simulator, self._server)

    @property
    def log(self) -> list[TruthRecord]:
        """Records of the last requests, in the order in which they ended."""
        return list(self._simulator.truth.records) if self._simulator else []

    @property
    def stats(self) -> EndpointStats:
        """Statistics since the start."""
        return self._board.stats()
