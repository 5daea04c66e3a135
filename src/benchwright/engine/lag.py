"""Loop lag: how late the event loop runs what is due. Sampled in every run; timings are no better than it."""

from __future__ import annotations

import asyncio
from time import perf_counter_ns

from benchwright.records import LoopLag
from benchwright.stats.histogram import bucket, quantile

INTERVAL = 0.01


class LoopLagSampler:
    """A timer that notes by how much it came too late; use as a context manager inside a running loop."""

    def __init__(self) -> None:
        self._lags: dict[int, int] = {}
        self._longest = 0
        self._due = 0
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> LoopLagSampler:
        self._schedule()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _schedule(self) -> None:
        self._due = perf_counter_ns() + int(INTERVAL * 1e9)
        self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._sample)

    def _sample(self) -> None:
        lag = max(1, perf_counter_ns() - self._due)
        slot = bucket(lag)
        self._lags[slot] = self._lags.get(slot, 0) + 1
        self._longest = max(self._longest, lag)
        self._schedule()

    @property
    def result(self) -> LoopLag:
        """The percentiles so far."""
        if not self._lags:
            return LoopLag()
        # A bucket tells its lags to 12.5 %: none of them is longer than the longest.
        p50, p99 = (min(int(quantile(self._lags, q)), self._longest) for q in (0.5, 0.99))
        return LoopLag(sum(self._lags.values()), p50, p99, self._longest)
