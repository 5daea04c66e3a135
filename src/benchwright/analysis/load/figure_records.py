"""The figures of a load level, as plain data. Times are in seconds, rates in requests or tokens per second."""

from __future__ import annotations

from typing import Literal

from benchwright.records import Record
from benchwright.runs.process_delays import StandstillCause


class FigureEstimate(Record, frozen=True):
    """A figure and its 95 % interval, which accounts for the dependence of requests in one queue.

    `low`, `high`: None if there are too few requests. `bound`: only for a percentile, its one-sided upper bound
    at a confidence of 99 %.
    """

    value: float
    low: float | None = None
    high: float | None = None
    bound: float | None = None


class TimeDistribution(Record, frozen=True):
    """Distribution of a measure, such as the latency, over `n` requests."""

    n: int
    mean: float
    p50: FigureEstimate
    p90: FigureEstimate
    p99: FigureEstimate


class Goodput(Record, frozen=True):
    """Requests that met all objectives: `met` of `counted` requests. A failed request meets no objective.

    `rate`: requests per second that met all objectives; None if the level is a burst (all requests sent at
    once: no steady rate). `low`, `high`: Wilson's 95 % interval of `share`, with the effective number of
    independent requests. `attained`: for each objective, the share of requests that met it.
    """

    met: int
    counted: int
    share: float
    low: float
    high: float
    rate: FigureEstimate | None = None
    attained: dict[str, float] = {}


class ChunkGaps(Record, frozen=True):
    """Times between chunks with tokens, pooled over all requests.

    They are in seconds and off by at most 12.5 %. `n`: number of these times. `chunk_tokens`: mean number of
    tokens per chunk after the first chunk; None if the server did not report tokens. If a chunk has several
    tokens, a gap is not a time per token.
    """

    n: int
    p50: float
    p99: float
    longest: float
    chunk_tokens: float | None = None


class LevelCost(Record, frozen=True):
    """Cost of a level, in the currency of the price: per hour, per million tokens, and per correct answer.

    `tokens`: cost per million of all tokens. `output_tokens`: cost per million tokens of answers. A field is
    None if the server does not report tokens, or nothing was graded.
    """

    hour: float
    tokens: float | None = None
    output_tokens: float | None = None
    correct: float | None = None


class Energy(Record, frozen=True):
    """Energy that all devices which serve the model used in the window, from the devices' own metrics.

    `watts`: the mean power of all `devices`. `by`: whether the readings are energy counters or power readings.
    The other figures are joules: per answered `request`, per `token` of prompts and answers, per
    `output_token`, and per `correct` answer. Each is the mean power divided by the rate; None if the rate is
    not known. `invalid`: the reason why there are no figures.
    """

    devices: int
    by: Literal["counters", "readings"]
    watts: float | None = None
    request: float | None = None
    token: float | None = None
    output_token: float | None = None
    correct: float | None = None
    invalid: str | None = None


class WholeLevelFigures(Record, frozen=True):
    """Figures of the whole level, from its first request to its last answer, as other programs compute them.

    Unlike the window's figures, they include ramp-up and drain. Rates are per second over `seconds`. The times
    are means in seconds, over the answers that arrived in several pieces. `tpot` is (latency - TTFT) / (tokens
    - 1), as in vLLM's `bench serve` and in AIPerf (there called inter token latency). `itl` is the time from
    the first to the last token over tokens - 1, as in GuideLLM. `tpot_with_ttft` is GuideLLM's time to the last
    token over all tokens.
    """

    seconds: float
    achieved: float
    output_tokens: float | None = None
    tpot: float | None = None
    itl: float | None = None
    tpot_with_ttft: float | None = None


class ServerMetricsSummary(Record, frozen=True):
    """The server's own metrics during the level, read about once a second.

    A metric that the server does not report is None. `looks`: number of readings. `cache_most`: highest share
    of the KV cache in use. `preempted`: number of requests that lost their place in the KV cache. `cached`:
    share of all prompt tokens that the server found in its prefix cache; this includes prompts of other
    users. `accepted`: share of the tokens drafted by speculative decoding that the model accepted.
    """

    looks: int
    running_mean: float | None = None
    running_most: float | None = None
    waiting_mean: float | None = None
    waiting_most: float | None = None
    cache_most: float | None = None
    preempted: float | None = None
    cached: float | None = None
    accepted: float | None = None


class ReplayResult(Record, frozen=True):
    """Results of a replayed trace, over all requests, including the warm-up.

    `requests`: number of the trace's requests that were sent. `answered`: number of requests that were
    answered. After a failure, the rest of a conversation was not sent. `late`: delay between the time at
    which a request was due and the time at which it was sent. `ideal_cached`: share of prompt tokens that a
    cache without limit would have held, from the block ids of the trace in the order of sending; None without
    ids. `cached`: share of prompt tokens that the server reports as cached; None if it does not report them.
    `length_off`: total deviation of the prompts' lengths from the trace, as a share of the trace's prompt
    tokens. `length_off_most`: the largest deviation of a single prompt, in tokens. `ended_early`: share of
    answers that were shorter than recorded.
    """

    requests: int
    answered: int
    late: TimeDistribution | None = None
    ideal_cached: float | None = None
    cached: float | None = None
    length_off: float | None = None
    length_off_most: int | None = None
    ended_early: float | None = None


class LevelStandstill(Record, frozen=True):
    """A standstill of our own process during a level.

    `at`: seconds from the level's first intended start to the standstill. `seconds`: length of the standstill.

    See `Standstill` for the causes.
    """

    at: float
    seconds: float
    cause: StandstillCause = "stopped"
