"""The requests of one target in numbers: counts, tokens and speed."""

from __future__ import annotations

from typing import NamedTuple

from benchwright.records import Record
from benchwright.runs.process_delays import Standstill
from benchwright.runs.request_figures import RequestFigures
from benchwright.runs.serial_server import SerialServing
from benchwright.runs.sessions import Sessions


class RequestSummary(Record, frozen=True):
    """Figures of the requests with the role `model`, named as in the documented AggregatedMetrics.

    Times are in seconds. Figures that need streaming are None without streaming. `effective_throughput_rps` and
    `wall_time_seconds` leave out the time between two sessions of a resumed run. `settling_requests`: number of
    requests made while the automatic concurrency settled, which took `settling_seconds`. No other figure of
    time or throughput includes these requests. `stood_still_requests`: number of requests that were due or in
    flight in one of the `standstills` of our own process. These requests are left out of all times, and the
    seconds of standstills are left out of the throughput.

    Side requests of agents (titles, summaries) cost tokens, too. Only the `side_*` and `all_*` figures include
    them. `uncounted_requests`: number of requests that were answered without token counts.
    `translated_requests`: number of requests that were asked in another dialect than the server's.
    `undecided_requests`: number of requests for which the server did not report its dialect.
    `requests_without`: mapping from a header or field to the number of requests without it, because the server
    refuses it. `noted_requests`: mapping from a kind of oddity to the number of requests with such a response.
    `sent_settings`: {name: {value: number of requests}}, the sampling settings of the `settings_read` requests
    that programs sent.

    `total_reasoning_tokens`: number of completion tokens that are thinking; None if unknown for every request.
    It is estimated from the text for `estimated_reasoning_requests`, and unknown for
    `unknown_reasoning_requests` that were answered. `answers_at_once`: number of answers that were streamed but
    arrived in one piece. Their time to the first token is the time of the whole answer, and they are left out
    of the tokens per second. `one_at_a_time`: evidence, found by the automatic concurrency, that the server
    processes one request at a time. `resent_requests`: number of requests that were sent again because the
    server closed an idle connection. Each lost at most `longest_lost_seconds`.
    """

    total_requests: int = 0
    failed_requests: int = 0
    retried_requests: int = 0
    total_prompt_tokens: int = 0
    total_completion_tokens: int = 0
    wall_time_seconds: float = 0.0
    effective_throughput_rps: float | None = None
    ttft_mean: float | None = None
    ttft_p50: float | None = None
    ttft_p95: float | None = None
    ttft_p99: float | None = None
    ttfa_p50: float | None = None
    latency_mean: float | None = None
    latency_p50: float | None = None
    latency_p95: float | None = None
    latency_p99: float | None = None
    generation_tps_mean: float | None = None
    generation_tps_p50: float | None = None
    prompt_tps_mean: float | None = None
    gap_p50: float | None = None
    gap_p99: float | None = None
    waited_seconds: float = 0.0
    dispatch_lag_p99: float | None = None
    detect_lag_p99: float | None = None
    settling_requests: int = 0
    settling_seconds: float = 0.0
    stood_still_requests: int = 0
    standstills: list[Standstill] = []
    side_requests: int = 0
    side_prompt_tokens: int = 0
    side_completion_tokens: int = 0
    uncounted_requests: int = 0
    translated_requests: int = 0
    undecided_requests: int = 0
    requests_without: dict[str, int] = {}
    noted_requests: dict[str, int] = {}
    settings_read: int = 0
    sent_settings: dict[str, dict[str, int]] = {}
    total_reasoning_tokens: int | None = None
    estimated_reasoning_requests: int = 0
    unknown_reasoning_requests: int = 0
    answers_at_once: int = 0
    one_at_a_time: SerialServing | None = None
    resent_requests: int = 0
    longest_lost_seconds: float = 0.0

    @property
    def all_requests(self) -> int:
        """Number of requests of the trials to the model, including side requests of agents."""
        return self.total_requests + self.side_requests

    @property
    def all_prompt_tokens(self) -> int:
        """Prompt tokens of the model's requests, including side requests of agents."""
        return self.total_prompt_tokens + self.side_prompt_tokens

    @property
    def all_completion_tokens(self) -> int:
        """Completion tokens of the model's requests, including side requests of agents."""
        return self.total_completion_tokens + self.side_completion_tokens


class _Times(NamedTuple):
    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


def _times(requests: RequestFigures, name: str) -> _Times:
    import numpy as np

    values = requests.timing_column(name)
    if not len(values):
        return _Times()
    mean = float(values.mean(dtype=np.float64))
    return _Times(mean, *(float(np.percentile(values, q, overwrite_input=True)) for q in (50, 95, 99)))


def _quantile_seconds(histogram: dict[int, int], q: float) -> float | None:
    from benchwright.stats.histogram import quantile

    return quantile(histogram, q) / 1e9 if histogram else None


def request_summary(requests: RequestFigures, sessions: Sessions) -> RequestSummary:
    """Return the figures of one target's requests. `sessions` are the periods in which the run was at work."""
    ttft, latency = _times(requests, "ttft"), _times(requests, "latency")
    generation = _times(requests, "generation_tps")
    timed = sessions.timed_seconds
    thought = requests.reasoning_counted + requests.reasoning_estimated
    return RequestSummary(
        total_requests=requests.requests,
        failed_requests=requests.failed,
        retried_requests=requests.retried,
        total_prompt_tokens=requests.prompt_tokens,
        total_completion_tokens=requests.completion_tokens,
        wall_time_seconds=sessions.wall_seconds,
        effective_throughput_rps=requests.timed / timed if timed > 0 else None,
        ttft_mean=ttft.mean,
        ttft_p50=ttft.p50,
        ttft_p95=ttft.p95,
        ttft_p99=ttft.p99,
        ttfa_p50=_times(requests, "ttfa").p50,
        latency_mean=latency.mean,
        latency_p50=latency.p50,
        latency_p95=latency.p95,
        latency_p99=latency.p99,
        generation_tps_mean=generation.mean,
        generation_tps_p50=generation.p50,
        prompt_tps_mean=requests.prompt_tps / requests.prompt_tps_count
        if requests.prompt_tps_count
        else None,
        gap_p50=_quantile_seconds(requests.gaps, 0.5),
        gap_p99=_quantile_seconds(requests.gaps, 0.99),
        waited_seconds=requests.waited / 1e9,
        dispatch_lag_p99=_quantile_seconds(requests.dispatch_lags, 0.99),
        detect_lag_p99=_quantile_seconds(requests.detect_lags, 0.99),
        settling_requests=requests.settling,
        settling_seconds=sessions.paces.settling_seconds,
        stood_still_requests=requests.stood_still,
        standstills=sessions.lag.standstills,
        side_requests=requests.side.requests,
        side_prompt_tokens=requests.side.prompt_tokens,
        side_completion_tokens=requests.side.completion_tokens,
        uncounted_requests=requests.uncounted + requests.side.uncounted,
        translated_requests=requests.translated,
        undecided_requests=requests.undecided,
        requests_without=dict(requests.left_out),
        noted_requests=dict(sorted(requests.noted.items(), key=lambda one: (-one[1], one[0]))),
        settings_read=requests.settings_read,
        sent_settings={name: dict(values) for name, values in sorted(requests.sent.items())},
        total_reasoning_tokens=requests.reasoning_tokens if thought else None,
        estimated_reasoning_requests=requests.reasoning_estimated,
        unknown_reasoning_requests=requests.answered - thought,
        answers_at_once=requests.at_once,
        one_at_a_time=sessions.paces.one_at_a_time,
        resent_requests=requests.resent,
        longest_lost_seconds=requests.longest_lost / 1e9,
    )
