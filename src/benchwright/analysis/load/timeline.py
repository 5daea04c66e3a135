"""Timeline of a load level: requests in flight, answers, latency and the server's own metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchwright.analysis.load.measurement_windows import FoundWindow
from benchwright.analysis.load.requests import LevelRequests
from benchwright.endpoint.metrics_poller import ServerMetrics
from benchwright.records import Record
from benchwright.stats.windows import mean_concurrency_between

MAX_BINS = 160
"""Maximum number of time bins of a timeline."""

REQUESTS_PER_BIN = 4
"""Mean number of requests per bin in a level with few requests.

With `MAX_BINS` bins, such a level would have nearly empty bins, so it has fewer bins.
"""

MIN_BINS = 16

MIN_LATENCIES_PER_BIN = 3
"""Minimum length of a bin, as a multiple of the median latency.

Requests that run in step all end at once, so shorter bins would alternate.
"""


class ServerMetricsReading(Record, frozen=True):
    """The server's own metrics, read `at` seconds into the level.

    A metric that the server does not report is None. `cache` is the share of the server's KV cache that is in
    use.
    """

    at: float
    running: float | None = None
    waiting: float | None = None
    cache: float | None = None


class LevelTimeline(Record, frozen=True):
    """Timeline of a level from its first intended start (0) to its last answer, in bins of `width` seconds.

    `in_flight`: mean number of requests in flight. `answers`: number of requests that ended, per second.
    `latency_p50`, `latency_most`: median and maximum over the answered requests whose intended start is in the
    bin; None if there are none. `begin`, `end`: only requests that were due between these times count in the
    level's figures; both are None if no request counts.
    """

    width: float
    in_flight: list[float]
    answers: list[float]
    latency_p50: list[float | None]
    latency_most: list[float | None]
    begin: float | None = None
    end: float | None = None
    server: list[ServerMetricsReading] = []

    @property
    def seconds(self) -> float:
        """Length of the level in seconds."""
        return self.width * len(self.in_flight)


def timeline_of(
    requests: LevelRequests, found: FoundWindow | None, looks: Sequence[ServerMetrics]
) -> LevelTimeline | None:
    """Return the timeline of a level's requests. None if there are no requests, or if they took no time."""
    number = int(requests.ok.size)
    seconds = float(requests.end.max()) if number else 0.0
    if seconds <= 0:
        return None
    together = MIN_LATENCIES_PER_BIN * float(np.median(requests.sent_latency))
    most_bins = seconds / together if together > 0 else MAX_BINS
    bins = max(MIN_BINS, min(MAX_BINS, number // REQUESTS_PER_BIN, int(most_bins)))
    edges = np.linspace(0.0, seconds, bins + 1)
    width = seconds / bins
    answers, _ = np.histogram(requests.end[requests.ok], edges)
    middle, most = _latencies(requests, width, bins)
    return LevelTimeline(
        width=width,
        in_flight=mean_concurrency_between(requests.start, requests.end, edges).tolist(),
        answers=(answers / width).tolist(),
        latency_p50=middle,
        latency_most=most,
        begin=None if found is None else found.window.begin,
        end=None if found is None else found.window.end,
        server=_seen(looks, requests.began_at, seconds),
    )


def _latencies(
    requests: LevelRequests, width: float, bins: int
) -> tuple[list[float | None], list[float | None]]:
    """Return the median and the longest latency for each bin of intended starts, in seconds."""
    known = requests.ok & np.isfinite(requests.latency)
    places = np.minimum((requests.intended[known] / width).astype(np.int64), bins - 1)
    latencies = requests.latency[known]
    parts = np.split(latencies, np.searchsorted(places, np.arange(1, bins)))
    middle = [float(np.median(part)) if part.size else None for part in parts]
    return middle, [float(part.max()) if part.size else None for part in parts]


def _seen(looks: Sequence[ServerMetrics], began_at: int, seconds: float) -> list[ServerMetricsReading]:
    """Return the server's metrics during the level, at most `MAX_BINS` readings."""
    inside = [look for look in looks if 0 <= look.at - began_at <= seconds * 1e9]
    chosen = inside[:: -(-len(inside) // MAX_BINS) or 1]
    return [
        ServerMetricsReading((look.at - began_at) / 1e9, look.running, look.waiting, look.cache)
        for look in chosen
    ]
