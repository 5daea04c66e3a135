"""The documented metrics of single requests and of whole runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

if TYPE_CHECKING:
    from benchwright.records import RequestRecord


@dataclass
class RequestMetrics:
    """Metrics of one request. Times are in seconds, rates in tokens per second.

    Metrics that need streaming are None if the response was not streamed. `ttft_seconds`: time to the first
    token on any channel (text, reasoning or tool call). `error`: the failure; None if the request succeeded.
    """

    request_id: str = field(default_factory=lambda: uuid4().hex[:8])
    ttft_seconds: float | None = None
    total_latency_seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prefill_time_seconds: float | None = None
    decode_time_seconds: float | None = None
    tokens_per_second_generation: float | None = None
    tokens_per_second_prompt: float | None = None
    error: str | None = None

    @classmethod
    def of(cls, record: RequestRecord) -> RequestMetrics:
        """Build the metrics from the engine's record of a request."""
        return cls(**{one.name: getattr(record, one.name) for one in fields(cls)})


class RequestTimings(Protocol):
    """The fields of a request that are aggregated.

    Both `RequestMetrics` and the engine's records have them.
    """

    @property
    def ttft_seconds(self) -> float | None: ...  # noqa: D102 - documented in `RequestMetrics`
    @property
    def total_latency_seconds(self) -> float: ...  # noqa: D102 - documented in `RequestMetrics`
    @property
    def prompt_tokens(self) -> int: ...  # noqa: D102 - documented in `RequestMetrics`
    @property
    def completion_tokens(self) -> int: ...  # noqa: D102 - documented in `RequestMetrics`
    @property
    def tokens_per_second_generation(self) -> float | None: ...  # noqa: D102 - documented in `RequestMetrics`
    @property
    def tokens_per_second_prompt(self) -> float | None: ...  # noqa: D102 - documented in `RequestMetrics`
    @property
    def error(self) -> str | None: ...  # noqa: D102 - documented in `RequestMetrics`


@dataclass
class AggregatedMetrics:
    """Metrics of all requests of a run. Times are in seconds. Only successful requests count in them."""

    ttft_p50: float | None = None
    ttft_p95: float | None = None
    ttft_p99: float | None = None
    ttft_mean: float | None = None
    generation_tps_mean: float | None = None
    generation_tps_p50: float | None = None
    prompt_tps_mean: float | None = None
    latency_p50: float | None = None
    latency_p95: float | None = None
    latency_p99: float | None = None
    latency_mean: float | None = None
    total_prompt_tokens: int = 0
    total_completion_tokens: int = 0
    total_requests: int = 0
    failed_requests: int = 0
    wall_time_seconds: float = 0.0
    effective_throughput_rps: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are not None."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def aggregate_metrics(metrics: Iterable[RequestTimings], wall_time: float) -> AggregatedMetrics:
    """Aggregate the requests of a run that took `wall_time` seconds.

    Percentiles are computed by linear interpolation (`numpy.percentile`). A metric without values is None.
    The throughput is also None if `wall_time` is 0.
    """
    requests = list(metrics)
    good = [request for request in requests if request.error is None]
    ttft = _known(request.ttft_seconds for request in good)
    latency = _known(request.total_latency_seconds for request in good)
    generation = _known(request.tokens_per_second_generation for request in good)
    return AggregatedMetrics(
        ttft_p50=_percentile(ttft, 50),
        ttft_p95=_percentile(ttft, 95),
        ttft_p99=_percentile(ttft, 99),
        ttft_mean=_mean(ttft),
        generation_tps_mean=_mean(generation),
        generation_tps_p50=_percentile(generation, 50),
        prompt_tps_mean=_mean(_known(request.tokens_per_second_prompt for request in good)),
        latency_p50=_percentile(latency, 50),
        latency_p95=_percentile(latency, 95),
        latency_p99=_percentile(latency, 99),
        latency_mean=_mean(latency),
        total_prompt_tokens=sum(request.prompt_tokens for request in good),
        total_completion_tokens=sum(request.completion_tokens for request in good),
        total_requests=len(requests),
        failed_requests=len(requests) - len(good),
        wall_time_seconds=wall_time,
        effective_throughput_rps=len(good) / wall_time if wall_time > 0 else None,
    )


def compute_pass_at_k(n: int, c: int, k: int) -> float:
    """Return pass@k for n answers, c of which passed: 1 - C(n - c, k) / C(n, k).

    Source: Chen et al. 2021, arXiv:2107.03374.

    Raises:
        ValueError: Unless 0 <= c <= n and 1 <= k <= n.
    """
    from benchwright.stats.passk import pass_at_k

    return pass_at_k(n, c, k)


def confidence_interval_95(scores: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval (lower, upper) of the mean: mean ± 1.96 * std / sqrt(n), with std of ddof 0.

    One score gives an interval of width 0. No scores give (0.0, 0.0).

    Raises:
        ValueError: If a score is not a finite number.
    """
    from benchwright.stats.intervals import documented_normal_interval

    low, high = documented_normal_interval(scores)
    return low, high


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _percentile(values: list[float], q: float) -> float | None:
    if not values:
        return None
    import numpy as np

    return float(np.percentile(values, q))


def _mean(values: list[float]) -> float | None:
    if not values:
        return None
    import numpy as np

    return float(np.mean(values))
