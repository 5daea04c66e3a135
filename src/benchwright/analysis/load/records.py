"""A measurement under load, as plain data. Times are in seconds, rates in requests or tokens per second."""

from __future__ import annotations

from typing import Literal

from benchwright.analysis.joint.records import ByConcurrency, OutcomeCounts
from benchwright.records import Record

Measure = Literal["ttft", "latency", "itl"]
Arrivals = Literal["constant", "poisson", "trace"]
Served = Literal["requests/s", "requests/s within the objectives"]


class Level(Record, frozen=True):
    """One load: `concurrency` requests in flight (closed loop), or arrivals at a `rate` or of a trace (open loop)."""

    concurrency: int | None = None
    rate: float | None = None
    arrivals: Arrivals | None = None

    @property
    def open(self) -> bool:
        """Whether requests are sent when they are due, whatever became of those before."""
        return self.concurrency is None

    @property
    def height(self) -> float:
        """How high the load is: requests in flight, or per second; 0 for a trace."""
        return float(self.concurrency if self.concurrency is not None else self.rate or 0.0)

    @property
    def name(self) -> str:
        """The level in a cell of a table."""
        if self.concurrency is not None:
            return f"{self.concurrency:,}"
        return "trace" if self.rate is None else f"{self.rate:g}/s"


class Objective(Record, frozen=True):
    """What a request is to keep: `measure` (ttft, latency, itl) at most so many seconds."""

    measure: Measure
    seconds: float


class Quantile(Record, frozen=True):
    """A percentile and its 95 % interval; an end that the requests are too few for is None."""

    value: float
    low: float | None = None
    high: float | None = None


class Spread(Record, frozen=True):
    """How a measure is spread over `n` requests."""

    n: int
    mean: float
    p50: Quantile
    p90: Quantile
    p99: Quantile


class Goodput(Record, frozen=True):
    """Requests that met all objectives: `met` of `counted`, and how many of them per second.

    `low` and `high` are Wilson's 95 % interval of `share`. A request that failed has met nothing.
    """

    met: int
    counted: int
    share: float
    low: float
    high: float
    rate: float


class Server(Record, frozen=True):
    """What the server's own metrics said during the level, looked at about each second; None where it does not say.

    `cache_most` is the highest share of the KV cache in use, `preempted` how many requests lost their place in it.
    """

    looks: int
    running_mean: float | None = None
    running_most: float | None = None
    waiting_mean: float | None = None
    waiting_most: float | None = None
    cache_most: float | None = None
    preempted: float | None = None


class LevelResult(Record, frozen=True):
    """One level: an ordinary run, and its figures over the window that warm-up and cool-down leave.

    `requests` were made, of which `counted` had their intended start in the window of `seconds`, and `failed` of these
    got no answer. `offered` is the rate of intended starts in the window (open loop), `achieved` that of answers.
    `ttft`, `latency` and `itl` (mean time between the tokens of a request) are those of answered requests; TTFT and
    latency count from the intended start, `sent_latency` from when the request was really sent, and `late` is between
    the two. `in_flight` is the most that were under way at once. `judged` counts every graded answer, those of the
    warm-up too, `ungraded` has the reasons for which graders failed, with counts, and `shortfalls` says which scores
    could not be made at all. `cached` is the share of prompt tokens that the server took from its cache, and
    `unexpected_cached` the part of that which this measurement does not explain (see `cached_prompts`). `client_bound`
    says why the timings are not to be trusted, None where they are; where even the rates are those of our own process,
    `client_limited` is true.
    """

    level: Level
    run: str
    state: str
    requests: int
    stop_reason: str | None = None
    counted: int = 0
    failed: int = 0
    failures: dict[str, int] = {}
    seconds: float = 0.0
    steady: bool = False
    offered: float | None = None
    achieved: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    ttft: Spread | None = None
    latency: Spread | None = None
    sent_latency: Spread | None = None
    itl: Spread | None = None
    late: Spread | None = None
    goodput: Goodput | None = None
    judged: OutcomeCounts | None = None
    ungraded: dict[str, int] = {}
    shortfalls: list[str] = []
    prompt_length: float | None = None
    answer_length: float | None = None
    cached: float | None = None
    unexpected_cached: float | None = None
    warm_cache: bool = False
    in_flight: int = 0
    limit_reached: bool = False
    lag_p99: float = 0.0
    cpu_share: float = 0.0
    client_bound: str | None = None
    client_limited: bool = False
    server: Server | None = None
    simulated: bool = False

    @property
    def answered(self) -> int:
        """How many of those that count got an answer; `achieved` may be 0 all the same, where all came late."""
        return self.counted - self.failed


class Saturation(Record, frozen=True):
    """What a sweep came to: the `level` from which on more load buys nothing, or why none was found.

    `served` of it is in the unit `by`. It is `doubtful` where the objectives are about times that are not valid. In an
    open loop it is the highest rate that the server keeps up with, None where even the lowest was too much.
    """

    found: bool
    by: Served
    gain: float
    level: Level | None = None
    served: float | None = None
    beyond: Level | None = None
    beyond_served: float | None = None
    doubtful: bool = False
    reason: str | None = None


class LoadReport(Record, frozen=True):
    """The measurement of a model: its runs share the tag `id`, also with those of models measured together with it.

    `prompts` says what was asked, `prompt_seed` which synthetic prompts (None for other ones).
    """

    id: str
    task: str
    model: str
    base_url: str
    prompts: str
    objectives: list[Objective]
    levels: list[LevelResult]
    saturation: Saturation | None = None
    by_concurrency: list[ByConcurrency] = []
    notes: list[str] = []
    interrupted: bool = False
    prompt_seed: int | None = None


class LoadComparison(Record, frozen=True):
    """Several models, measured one after the other with the same prompts at the same levels, or a sweep for each."""

    id: str
    reports: list[LoadReport]
