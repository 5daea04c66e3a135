"""A load measurement, as plain data. Times are in seconds, rates in requests or tokens per second."""

from __future__ import annotations

from typing import Literal

from benchwright.analysis.load.figure_records import (
    ChunkGaps,
    Energy,
    FigureEstimate,
    Goodput,
    LevelCost,
    LevelStandstill,
    ReplayResult,
    ServerMetricsSummary,
    TimeDistribution,
    WholeLevelFigures,
)
from benchwright.analysis.quality_and_speed.records import ConcurrencyTable, OutcomeCounts
from benchwright.records import Record
from benchwright.stats.windows import WindowTrim

ObjectiveMeasure = Literal["ttft", "latency", "itl"]
ArrivalProcess = Literal["constant", "poisson", "trace"]
WindowRule = Literal["default", "found", "given"]
ServedUnit = Literal["requests/s", "requests/s within the objectives"]


class LoadLevel(Record, frozen=True):
    """The load of one level: `concurrency` requests in flight (closed loop), or arrivals (open loop).

    In an open loop, requests arrive at a `rate` per second, or at the times recorded in a trace.
    """

    concurrency: int | None = None
    rate: float | None = None
    arrivals: ArrivalProcess | None = None

    @property
    def is_open_loop(self) -> bool:
        """True in an open loop. There, requests are sent when they are due, even if earlier requests are in flight."""
        return self.concurrency is None

    @property
    def numeric_load(self) -> float:
        """The load as a number: requests in flight, or requests per second. It is 0 for a trace."""
        return float(self.concurrency if self.concurrency is not None else self.rate or 0.0)

    @property
    def name(self) -> str:
        """The level as a short text for a table cell."""
        if self.concurrency is not None:
            return f"{self.concurrency:,}"
        return "trace" if self.rate is None else f"{self.rate:g}/s"


class Objective(Record, frozen=True):
    """A service level objective: for each request, `measure` (ttft, latency, itl) is to be at most `seconds`."""

    measure: ObjectiveMeasure
    seconds: float


class SweepPlan(Record, frozen=True):
    """Settings of a sweep (see `sweep.LoadSweep`).

    `gain`: the smallest gain in throughput, as a share, for which the load is doubled again. `bisect`: number of
    further levels, by which the knee is located. `most`: the highest load; None for the sweep's own limit.
    """

    gain: float = 0.1
    bisect: int = 2
    most: float | None = None


class SelfTest(Record, frozen=True):
    """Measured limits of this machine as a client, at 64 concurrent streams.

    `requests`: requests per second. `chunks`: chunks of streams per second. `ttft_error_*`: percentiles of
    the error of the measured TTFT, in seconds.
    """

    requests: float
    chunks: float
    ttft_error_p50: float
    ttft_error_p99: float


class ServerPrice(Record, frozen=True):
    """Price of a server: per million tokens of prompts and of answers, or per hour of the hardware."""

    input: float = 0.0
    output: float = 0.0
    hour: float | None = None


class LevelPlan(Record, frozen=True):
    """The plan of a level, stored in the manifest of its run under `numeric_load`.

    `id`: the tag of the measurement. `number`: the level's number (from 1) in order of time. `repeat`: number
    of the level among those at this load, from 1. The level ends after `requests` or `seconds`. `prompts`:
    description of the prompts. `prompt_seed`: seed of synthetic prompts. `seeded`: True if the user chose
    this seed. `answer_tokens`: number of tokens requested for each answer. `made_of_trace`: True if prompts
    are generated from a trace, so that no journal contains the prompts. `speed`: factor by which the trace is
    replayed faster than recorded. `window`: begin and end, in seconds, of the time span that counts; None if
    the user gave none.
    """

    id: str
    level: LoadLevel
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
    warmup: WindowTrim | None = None
    cooldown: WindowTrim = WindowTrim()
    window: tuple[float, float] | None = None
    max_in_flight: int = 1024
    objectives: list[Objective] = []
    sweep: SweepPlan | None = None
    self_test: SelfTest | None = None
    price: ServerPrice | None = None


class LevelResult(Record, frozen=True):
    """Result of one level: an ordinary run, and its figures over the window between warm-up and cool-down.

    Requests. `requests`: number of requests that were made. `counted`: number of requests whose intended
    start is in the window of `seconds`. `failed`: number of counted requests without an answer. `outlasting`:
    number of requests that began before the window and ended after it, so that no figure of the window
    includes them. `held_back`: number of requests of an open loop that were due while the maximum number was
    in flight. `in_flight`: largest number of requests in flight. `prompts`: number of distinct prompts.
    `prompt_most`: number of times that the most frequent prompt was sent. `prompts_repeated`: share of the
    first prompts that had been sent before, at this level or an earlier one.

    Window. `begin`: seconds from the first intended start to the window. `window`: whether the window is the
    default, was found from the latencies (`stats.steady_state.warm_up_length`), or was given. `steady`: False
    if the level is a burst (all requests sent at once), or if the latency changed over the window. `drift`:
    this change as a share of the mean latency; None if it is too small or not statistically significant.
    `needs_seconds`: the length that a steady rate would require, if the level is too short for its latency.

    Rates. `offered`: rate of intended starts in the window (open loop). `achieved`: rate of answers. A burst
    has no rates except those in `overall`. `input_tokens`, `output_tokens`: tokens per second; None if no
    answer has token counts. `tokens_told`: share of answers with token counts; the other answers are assumed
    to have as many tokens on average.

    Times of answered requests. `ttft`: time to first token. `ttfa`: time to the first token of the answer
    proper, after any reasoning. `latency`: time to the end of the answer. `itl`: mean time between the tokens
    of a request. TTFT, TTFA and latency count from the intended start. `sent_latency`: latency from the
    actual start. `late`: delay from the intended to the actual start. `normalized`: latency over the tokens
    of the answer. `connect`: time of opening a connection, over the requests that opened one. `lost`: time
    lost by requests that had to be sent again because the server had closed their idle connections. `connect`
    and `lost` are part of the TTFT. `ending`: median time from the last token to the end of an answer.
    `at_once`: number of answers that were streamed but arrived in one piece, so that their time between
    tokens is unknown. `streams_alone`: number of answers that were streamed without any overlap, although an
    overlap would be likely: the server processes one request at a time.

    Quality and tokens. `judged`: number of right and wrong answers, including the warm-up. `ungraded`: the
    reasons why graders failed, with counts. `shortfalls`: the scores that could not be computed at all.
    `cached`: share of prompt tokens that the server took from its cache. `unexpected_cached`: the share that
    this measurement does not explain (see `cached_prompts`). `answer_length`: mean tokens of an answer.
    `reasoning_length`: mean number of these tokens that were reasoning, if the server reports it separately.

    Client. `cpu_share`: mean share of a core that our processes used. `client_bound`: the reason why the
    timings are not to be trusted; None if they are. `client_limited`: True if our own process limited even
    the rates. `stood_still`: standstills of our process; the figures are then from the longest stretch
    without a standstill. `disturbed`: number of requests outside of that stretch. `replayed`: how faithfully
    a trace was replayed.
    """

    level: LoadLevel
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
    achieved: FigureEstimate | None = None
    input_tokens: FigureEstimate | None = None
    output_tokens: FigureEstimate | None = None
    tokens_told: float = 1.0
    overall: WholeLevelFigures | None = None
    cost: LevelCost | None = None
    energy: Energy | None = None
    ttft: TimeDistribution | None = None
    ttfa: TimeDistribution | None = None
    connect: TimeDistribution | None = None
    gaps: ChunkGaps | None = None
    latency: TimeDistribution | None = None
    sent_latency: TimeDistribution | None = None
    itl: TimeDistribution | None = None
    normalized: TimeDistribution | None = None
    late: TimeDistribution | None = None
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
    server: ServerMetricsSummary | None = None
    simulated: bool = False
    replayed: ReplayResult | None = None
    stood_still: list[LevelStandstill] = []
    disturbed: int = 0
    needs_seconds: float | None = None
    at_once: int = 0
    streams_alone: int | None = None
    lost: TimeDistribution | None = None

    @property
    def answered_requests(self) -> int:
        """Number of counted requests with an answer. `achieved` may still be 0, if all answers came late."""
        return self.counted - self.failed


class Saturation(Record, frozen=True):
    """Result of a sweep: the `level` above which more load gains nothing, or the `reason` why no such level
    was found.

    `served`: the rate of this level, in the unit `by`. `doubtful`: True if the objectives are about times
    that are not valid. In an open loop, `level` is the highest rate with which the server keeps up. `level`
    is None if even the lowest rate was too high.
    """

    found: bool
    by: ServedUnit
    gain: float
    level: LoadLevel | None = None
    served: float | None = None
    beyond: LoadLevel | None = None
    beyond_served: float | None = None
    doubtful: bool = False
    reason: str | None = None


class LoadReport(Record, frozen=True):
    """The load measurement of one model.

    `id`: the tag of the measurement's runs. Models that were measured together share it.

    `prompts`: description of the prompts. `prompt_seed`: seed of synthetic prompts; None for other prompts.
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
    by_concurrency: list[ConcurrencyTable] = []
    notes: list[str] = []
    interrupted: bool = False
    prompt_seed: int | None = None
