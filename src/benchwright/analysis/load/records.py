"""A measurement under load, as plain data. Times are in seconds, rates in requests or tokens per second."""

from __future__ import annotations

from typing import Literal

from benchwright.analysis.joint.records import ByConcurrency, OutcomeCounts
from benchwright.analysis.load.figure_records import (
    Cost,
    Energy,
    Estimate,
    Gaps,
    Goodput,
    Overall,
    Replayed,
    Server,
    Spread,
    StoodStill,
)
from benchwright.records import Record
from benchwright.stats.windows import Cut

Measure = Literal["ttft", "latency", "itl"]
Arrivals = Literal["constant", "poisson", "trace"]
WindowRule = Literal["default", "found", "given"]
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


class SweepPlan(Record, frozen=True):
    """How a sweep chooses its levels: see `sweep.Sweep`."""

    gain: float = 0.1
    bisect: int = 2
    most: float | None = None


class SelfTest(Record, frozen=True):
    """What the machine can measure: `requests` and `chunks` per second, and TTFT errors in seconds, at 64 streams."""

    requests: float
    chunks: float
    ttft_error_p50: float
    ttft_error_p99: float


class Price(Record, frozen=True):
    """What is paid: per million tokens of prompts and of answers, or per hour of the hardware."""

    input: float = 0.0
    output: float = 0.0
    hour: float | None = None


class LevelPlan(Record, frozen=True):
    """What the manifest of a level says of it, under `load`.

    `id` is the tag of the measurement, of which this is level `number` (from 1) in the order of time, and the
    `repeat`-th at this load. `requests` and `seconds` end it;
    `prompts` says what is asked, `prompt_seed` which synthetic prompts, and `seeded` that the user said which.
    `answer_tokens` are asked for in each answer. Prompts `made_of_trace` are in no journal; a trace is replayed at so
    many times its `speed`. `window` has the seconds of the level that count, if given.
    """

    id: str
    level: Level
    number: int = 1
    repeat: int = 1
    requests: int | None = None
    seconds: float | None = None
    prompts: str = ""
    prompt_seed: int | None = None
    seeded: bool = False
    synthetic: bool = False
    answer_tokens: int | None = None
    made_of_trace: bool = False
    speed: float = 1.0
    warmup: Cut | None = None
    cooldown: Cut = Cut()
    window: tuple[float, float] | None = None
    max_in_flight: int = 1024
    objectives: list[Objective] = []
    sweep: SweepPlan | None = None
    self_test: SelfTest | None = None
    price: Price | None = None


class LevelResult(Record, frozen=True):
    """One level: an ordinary run, and its figures over the window that warm-up and cool-down leave.

    `requests` were made, of which `counted` had their intended start in the window of `seconds`, and `failed` of these
    got no answer. The window begins `begin` seconds after the first intended start; `window` says whether that is the
    default, was found in the latencies (`stats.steady.warm_up`), or given. `steady` is false where the requests came in
    one burst, or where the latency changed over the window by the share `drift`, which is told only if it is certain.
    `input_tokens` and `output_tokens` are per second, None where the server told them of no answer; it told them of the
    share `tokens_told`, and the other answers are taken to be alike. `offered` is the rate of intended starts in the
    window (open loop), `achieved` that of answers; a burst has no rates but those in `overall`.
    `ttft`, `ttfa` (to the first token of the answer proper, behind all reasoning), `latency` and `itl` (mean time
    between the tokens of a request) are those of answered requests; TTFT, TTFA and latency count from the intended
    start, `sent_latency` from when the request was really sent, and `late` is between the two. `normalized` is latency
    over the tokens of the answer. `connect` is how long opening a connection took, of the requests that opened one; it
    is part of their TTFT. `held_back` requests of an open loop were due while all that may be in flight were.
    `in_flight` is the most that were under way at once, `cpu_share` how much of a core a process of ours took. `judged`
    counts every graded answer,
    those of the warm-up too, `ungraded` has the reasons for which graders failed, with counts, and `shortfalls` says
    which scores could not be made at all. `cached` is the share of prompt tokens that the server took from its cache,
    and `unexpected_cached` the part of that which this measurement does not explain (see `cached_prompts`). There were
    so many different `prompts`, one of which was sent `prompt_most` times, and `prompts_repeated` is the share of the
    first ones that had been sent before, at this level or an earlier one. Of the mean
    `answer_length`, `reasoning_length` tokens were reasoning, where the server counts it apart. `ending` is the median
    time from the last token to the end of an answer. `outlasting` requests began before the window and ended after it:
    they are in no figure of it.
    `client_bound` says why the timings are not to be trusted, None where they are; where even the rates are those of
    our own process, `client_limited` is true. `replayed` says how faithfully a trace was replayed. Where our process
    `stood_still`, figures are those of the longest stretch without a standstill, and `disturbed` requests in none.
    A level that is too short for its latency `needs_seconds` to have a steady rate. Of `at_once` answers, which were
    streamed and came in one piece, nothing is known of the time between tokens. `streams_alone` answers were streamed,
    none while another one was, although that would be likely: the server serves one request at a time. `lost` is what
    it took to send requests again whose idle connections the server had closed; it is part of their TTFT.
    """

    level: Level
    run: str
    state: str
    requests: int
    repeat: int = 1
    stop_reason: str | None = None
    counted: int = 0
    failed: int = 0
    failures: dict[str, int] = {}
    seconds: float = 0.0
    begin: float = 0.0
    window: WindowRule = "default"
    steady: bool = False
    drift: float | None = None
    offered: float | None = None
    achieved: Estimate | None = None
    input_tokens: Estimate | None = None
    output_tokens: Estimate | None = None
    tokens_told: float = 1.0
    overall: Overall | None = None
    cost: Cost | None = None
    energy: Energy | None = None
    ttft: Spread | None = None
    ttfa: Spread | None = None
    connect: Spread | None = None
    gaps: Gaps | None = None
    latency: Spread | None = None
    sent_latency: Spread | None = None
    itl: Spread | None = None
    normalized: Spread | None = None
    late: Spread | None = None
    ending: float | None = None
    outlasting: int = 0
    goodput: Goodput | None = None
    judged: OutcomeCounts | None = None
    ungraded: dict[str, int] = {}
    shortfalls: list[str] = []
    prompt_length: float | None = None
    answer_length: float | None = None
    reasoning_length: float | None = None
    cached: float | None = None
    unexpected_cached: float | None = None
    warm_cache: bool = False
    prompts: int = 0
    prompt_most: int = 0
    prompts_repeated: float | None = None
    in_flight: int = 0
    limit_reached: bool = False
    held_back: int = 0
    lag_p99: float = 0.0
    cpu_share: float = 0.0
    client_bound: str | None = None
    client_limited: bool = False
    server: Server | None = None
    simulated: bool = False
    replayed: Replayed | None = None
    stood_still: list[StoodStill] = []
    disturbed: int = 0
    needs_seconds: float | None = None
    at_once: int = 0
    streams_alone: int | None = None
    lost: Spread | None = None

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
    self_test: SelfTest | None = None
    saturation: Saturation | None = None
    by_concurrency: list[ByConcurrency] = []
    notes: list[str] = []
    interrupted: bool = False
    prompt_seed: int | None = None
