"""Metrics of the server during a run: their values at the run's end, and their increase since its start."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.access import ANONYMOUS_ACCESS, Access
from benchwright.endpoint.address import replace_url_path
from benchwright.endpoint.prometheus import counter_growth
from benchwright.endpoint.server_info import read_metrics
from benchwright.errors import ProviderError
from benchwright.text import Say


class MetricsScrape:
    """Context manager that reads the server's metrics before and after a run.

    If the metrics cannot be read, this is reported and the run continues. On exit, `found` holds `prometheus_url`,
    `prometheus_metrics` (raw text) and `prometheus_delta` (the increases).
    """

    def __init__(self, base_url: str, url: str | None, say: Say, access: Access = ANONYMOUS_ACCESS) -> None:
        self.found: dict[str, Any] = {}
        self._url = url or metrics_url(base_url)
        self._access = access.for_url(self._url, base_url)
        self._say = say
        self._before: str | None = None

    async def __aenter__(self) -> MetricsScrape:
        self._before = await self._read()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None or (after := await self._read()) is None:
            return
        delta = {} if self._before is None else counter_growth(self._before, after)
        self.found = {"prometheus_url": self._url, "prometheus_metrics": after, "prometheus_delta": delta}

    async def _read(self) -> str | None:
        try:
            return await read_metrics(self._url, self._access)
        except ProviderError as error:
            self._say(f"Metrics are not recorded: {error}")
            return None


def metrics_url(base_url: str) -> str:
    """Return the URL of vLLM's metrics: `/metrics` on the host and port of the endpoint."""
    return replace_url_path(base_url, "/metrics")
