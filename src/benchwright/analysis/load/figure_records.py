"""The figures of a level of load, as plain data. Times are in seconds, rates in requests or tokens per second."""

from __future__ import annotations

from typing import Literal

from benchwright.records import Record
from benchwright.runs.lag import StandstillCause


class Estimate(Record, frozen=True):
    """A figure and its 95 % interval, which respects that requests in one queue depend on each other.

    An end that the requests are too few for is None. Of a percentile, `bound` is what it does not exceed with a
    confidence of 99 %.
    """

    value: float
    low: float | None = None
    high: float | None = None
    bound: float | None = None


class Spread(Record, frozen=True):
    """How a measure is spread over `n` requests."""

    n: int
    mean: float
    p50: Estimate
    p90: Estimate
    p99: Estimate


class Goodput(Record, frozen=True):
    """Requests that met all objectives: `met` of `counted`, and how many of them per second (None in a burst).

    `low` and `high` are Wilson's 95 % interval of `share`, of as many requests as these are worth independent ones. A
    request that failed has met nothing. `attained` says of each objective which share met it.
    """

    met: int
    counted: int
    share: float
    low: float
    high: float
    rate: Estimate | None = None
    attained: dict[str, float] = {}


class Gaps(Record, frozen=True):
    """The times between chunks with tokens, of all requests together, in seconds; off by at most 12.5 %.

    There were `n` of them. `chunk_tokens` is how many tokens a chunk after the first holds on average, None where no
    tokens were told: with several tokens in a chunk a gap is not a time per token.
    """

    n: int
    p50: float
    p99: float
    longest: float
    chunk_tokens: float | None = None


class Cost(Record, frozen=True):
    """What a level costs, in the currency of the price: per hour, per million tokens, and per correct answer.

    `tokens` is per million of all tokens, `output_tokens` per million of those in answers. None where the server does
    not tell tokens, or nothing was graded.
    """

    hour: float
    tokens: float | None = None
    output_tokens: float | None = None
    correct: float | None = None


class Energy(Record, frozen=True):
    """What the devices that serve the model used in the window, by their own metrics: the whole deployment.

    `watts` is the mean power of all `devices`, `by` their energy counters or their power readings. Joules per answered
    `request`, per `token` of prompts and answers, per `output_token` and per `correct` answer: the mean power over the
    rate of these; None where the rate is not known. `invalid` says why there are no figures.
    """

    devices: int
    by: Literal["counters", "readings"]
    watts: float | None = None
    request: float | None = None
    token: float | None = None
    output_token: float | None = None
    correct: float | None = None
    invalid: str | None = None


class Overall(Record, frozen=True):
    """The level from its first request to its last answer, ramp-up and drain included: as other programs count.

    Rates per second over `seconds`. The times are means in seconds over the answers that were seen to come in pieces:
    `tpot` is (latency - TTFT) / (tokens - 1), as in vLLM's `bench serve` and in AIPerf (there called inter token
    latency); `itl` from the first to the last token over tokens - 1, as in GuideLLM, whose `tpot_with_ttft` is the time
    to the last token over all tokens.
    """

    seconds: float
    achieved: float
    output_tokens: float | None = None
    tpot: float | None = None
    itl: float | None = None
    tpot_with_ttft: float | None = None


class Server(Record, frozen=True):
    """What the server's own metrics said during the level, looked at about each second; None where it does not say.

    `cache_most` is the highest share of the KV cache in use, `preempted` how many requests lost their place in it, and
    `cached` the share of all prompt tokens, those of other users too, that it found in its prefix cache. `accepted` is
    the share of the tokens drafted by speculative decoding that the model took.
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


class Replayed(Record, frozen=True):
    """What became of a trace: all requests that were answered, those of the warm-up too.

    `requests` of the trace were asked, `answered` of them well; of conversations that failed the rest was not asked.
    `late` is by how much they were sent after they were due. `ideal_cached` is the share of prompt tokens that a cache
    without limit would have known, by the ids of the trace in the order of sending, `cached` what the server says; None
    where there are no ids, or it does not. `length_off` is how far the lengths of prompts are off in all, as a share,
    `length_off_most` in tokens; `ended_early` the share of answers that were shorter than recorded.
    """

    requests: int
    answered: int
    late: Spread | None = None
    ideal_cached: float | None = None
    cached: float | None = None
    length_off: float | None = None
    length_off_most: int | None = None
    ended_early: float | None = None


class StoodStill(Record, frozen=True):
    """A time in which our own process stood still: so many seconds after the level's first intended start, how long,
    and why (see `Standstill`)."""

    at: float
    seconds: float
    cause: StandstillCause = "stopped"
