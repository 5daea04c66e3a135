"""User settings of a load measurement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from benchwright.access_settings import HeadersEnv, PlainHeaders
from benchwright.analysis.load.records import Level, Measure, Objective, Price, SweepPlan
from benchwright.config import ThinkingSettings, Where
from benchwright.errors import UserError
from benchwright.formats import seconds_of
from benchwright.stats.windows import Cut

DEFAULT_SECONDS = 30.0
"""Default seconds for which requests are sent at each level."""

Length = Annotated[str, BeforeValidator(str)]
"""A length in tokens; see `synthetic.lengths`."""

MEASURES: dict[str, Measure] = {
    "ttft": "ttft",
    "latency": "latency",
    "e2el": "latency",
    "itl": "itl",
    "tpot": "itl",
}
"""Measures by the common names of their objectives."""

MILLISECONDS_FROM: dict[Measure, float] = {"ttft": 60, "itl": 5, "latency": 1000}
"""Smallest value without a unit that is assumed to be in milliseconds, as in other programs, and rejected."""


class LoadSettings(ThinkingSettings):
    """Settings of `benchwright load`.

    Prompts come from one of `benchmark`, `dataset`, `synthetic_input` and `trace`.
    """

    benchmark: str | None = None
    dataset: Path | None = None
    synthetic_input: Length | None = None
    synthetic_output: Length | None = None
    turns: int | None = Field(default=None, ge=1)
    think: float | None = Field(default=None, ge=0)
    """Seconds between the turns of a synthetic conversation. None: 0."""
    shared_prefix: int | None = Field(default=None, ge=1)
    images: int | None = Field(default=None, ge=1)
    image_size: str | None = None
    tool_definitions: int | None = Field(default=None, ge=1)
    model_mix: str | None = None

    source: Path | None = None
    data_dir: Path = Path("data")
    limit: int | None = Field(default=None, ge=1)
    shuffle: bool = False
    where: Where = {}
    ids: Path | None = None
    option: dict[str, str] = {}
    plugin: tuple[Path, ...] = ()
    scorer: tuple[str, ...] = ()
    scorer_option: dict[str, str] = {}
    judge_model: str | None = None
    judge_base_url: str | None = None
    judge_api_key_env: str | None = None
    judge_headers: PlainHeaders = {}
    judge_headers_env: HeadersEnv = {}
    column: dict[str, str] = {}
    system: str | None = None
    template: str | None = None
    skip_bad_rows: bool = False

    levels: tuple[int, ...] = ()
    """Concurrency levels; for a sweep the first one."""
    rates: tuple[float, ...] = ()
    arrivals: Literal["constant", "poisson", "trace"] | None = None
    trace: Path | None = None
    """Trace to replay: a file, a folder, or a run by its id."""
    speed: float | None = Field(default=None, gt=0)
    block_size: int | None = Field(default=None, ge=8)
    """Tokens per block of the trace, if it differs from the format's default."""
    max_think: float | None = Field(default=None, ge=0)
    max_in_flight: int = Field(default=1024, ge=1)
    requests: int | None = Field(default=None, ge=1)
    duration: float | None = Field(default=None, gt=0)
    warmup: str | None = None
    cooldown: str | None = None
    window: str | None = None

    self_test: bool = False
    """True: first measure what this machine can measure."""
    repeats: int = Field(default=1, ge=1)
    """Number of times that each level is measured, in alternating order."""
    against: str | None = None
    """Measurement to compare this one with."""
    max_regression: float | None = Field(default=None, ge=0, lt=1)
    prove: bool = False

    sweep: bool = False
    gain: float = Field(default=0.1, gt=0, lt=1)
    """A level is saturated if doubling it increases the throughput by less than this share."""
    bisect: int = Field(default=2, ge=0)
    most: float | None = Field(default=None, gt=0)
    """Highest level of a sweep."""
    slo: tuple[str, ...] = ()

    price: tuple[str, ...] = ()
    """`IN,OUT` per million tokens, or `COST/h` per hour of hardware.

    The prefix `MODEL=` selects one of several models.
    """

    keep_bodies: float = Field(default=1.0, ge=0, le=1)
    """Share of conversations that is kept."""
    metrics: bool = True
    metrics_url: str | None = None
    energy_url: str | None = None
    """URL of the metrics of all devices that serve the model, in the format of NVIDIA's DCGM exporter."""
    retries: int = Field(default=0, ge=0)
    max_wait: float = Field(default=0.0, ge=0)
    output: Path | None = None

    @property
    def asks(self) -> bool:
        """True if the settings name something to send."""
        others = (self.benchmark, self.dataset, self.synthetic_input, self.trace)
        return any(one is not None for one in others)

    @property
    def replays(self) -> bool:
        """True if the trace supplies the requests and not only their times."""
        others = (self.benchmark, self.dataset, self.synthetic_input)
        return self.trace is not None and all(one is None for one in others)


def chosen_levels(settings: LoadSettings, *, timed: bool = True) -> list[Level]:
    """Return the wanted levels, for a sweep the first one. `timed`: whether the trace, if any, has times.

    Raises:
        UserError: If options contradict each other, or a level is invalid.
    """
    arrivals = settings.arrivals
    if settings.trace is None and arrivals == "trace":
        raise UserError("--arrivals trace needs --trace FILE.")
    if not timed and (arrivals == "trace" or not settings.replays):
        raise UserError(
            f"{settings.trace} does not say when its conversations begin: choose --concurrency (conversations "
            "at once) or --rate (started per second)."
        )
    if settings.trace is not None and timed:
        if arrivals not in (None, "trace") or settings.rates or settings.levels or settings.sweep:
            raise UserError(
                "--trace sets the load itself: remove --rate, --concurrency, --sweep and --arrivals."
            )
        return [Level(arrivals="trace")]
    if settings.rates:
        if settings.levels:
            raise UserError("--rate (open loop) and --concurrency (closed loop) cannot be combined.")
        levels = [Level(rate=rate, arrivals=arrivals or "poisson") for rate in settings.rates]
        if any(not 0 < level.rate < 1e6 for level in levels if level.rate is not None):
            raise UserError("--rate takes requests per second, above 0.")
    else:
        if arrivals is not None:
            raise UserError("--arrivals requires --rate; with --concurrency, each request follows an answer.")
        levels = [Level(concurrency=number) for number in settings.levels or (1,)]
        if any(not 0 < level.concurrency <= 65_536 for level in levels if level.concurrency is not None):
            raise UserError("--concurrency takes numbers of requests in flight, 1 or more.")
    if (settings.max_regression is not None or settings.prove) and settings.against is None:
        raise UserError("--max-regression and --prove need --against LOAD: the measurement to compare with.")
    if settings.prove and settings.max_regression is None:
        raise UserError("--prove needs --max-regression: the largest acceptable loss, such as 0.1.")
    if settings.sweep and settings.repeats > 1:
        raise UserError(
            "--sweep finds its levels as it goes: repeat those that matter with --concurrency and --repeats."
        )
    if settings.sweep and len(levels) > 1:
        raise UserError("--sweep finds the levels itself: give one level to start from.")
    return levels


def objectives(settings: LoadSettings) -> list[Objective]:
    """Return the objectives of `--slo`, such as `ttft=0.5`, `latency=10s`, `itl=50ms`.

    Raises:
        UserError: If one is invalid or repeated, seems to be in milliseconds without a unit, or needs
            streaming that is off.
    """
    found: dict[str, Objective] = {}
    for text in settings.slo:
        name, _, value = text.partition("=")
        measure = MEASURES.get(name.strip().lower())
        seconds = seconds_of(value)
        if measure is None or not seconds:
            raise UserError(
                f"--slo {text!r} is not an objective: use ttft=S, latency=S or itl=S, with S in seconds or like 50ms."
            )
        if value.strip()[-1].isdecimal() and seconds >= MILLISECONDS_FROM[measure]:
            raise UserError(
                f"--slo {text} would be {seconds:g} seconds: write {name}={value}ms, or {name}={value}s if you mean "
                "that."
            )
        if measure in found:
            raise UserError(f"Two objectives are given for {measure}.")
        if measure != "latency" and not settings.stream:
            raise UserError(f"--slo {name} needs streaming: remove --no-stream.")
        found[measure] = Objective(measure, seconds)
    return list(found.values())


def window_of(settings: LoadSettings) -> tuple[float, float] | None:
    """Return the (begin, end) seconds of each level that count. None without --window.

    Raises:
        UserError: If the window is invalid, or a warm-up or cool-down is given too.
    """
    if settings.window is None:
        return None
    if settings.warmup is not None or settings.cooldown is not None:
        raise UserError("--window says which part of a level counts: remove --warmup and --cooldown.")
    begin, _, end = settings.window.partition(":")
    found = seconds_of(begin), seconds_of(end)
    if found[0] is None or found[1] is None or not found[0] < found[1]:
        raise UserError(
            f"--window {settings.window!r}: give BEGIN:END in seconds of the level, such as 10:60."
        )
    return found[0], found[1]


def price_of(settings: LoadSettings, model: str) -> Price | None:
    """Return the price for a model: the one with its name, else the one without a name.

    None if there is neither.

    Raises:
        UserError: If a price is invalid.
    """
    found: dict[str, Price] = {}
    for text in settings.price:
        name, _, amounts = text.rpartition("=")
        found[name] = _price(amounts, text)
    return found.get(model, found.get(""))


def _price(amounts: str, typed: str) -> Price:
    try:
        if amounts.endswith("/h"):
            price = Price(hour=float(amounts[:-2]))
        else:
            before, after = map(float, amounts.split(","))
            price = Price(before, after)
    except ValueError:
        price = Price(-1)
    if not all(0 <= amount < float("inf") for amount in (price.input, price.output, price.hour or 0.0)):
        raise UserError(
            f"--price {typed!r}: give IN,OUT for a million tokens, such as 0.5,1.5, or the cost of an hour: 2.5/h."
        )
    return price


def sweep_plan(settings: LoadSettings) -> SweepPlan:
    """Return the rules by which a sweep chooses its levels."""
    return SweepPlan(settings.gain, settings.bisect, settings.most)


def cut_of(text: str | None, option: str, default: Cut) -> Cut:
    """Return a warm-up or cool-down: `20` requests, or `5s`.

    Raises:
        UserError: If it is neither.
    """
    if text is None:
        return default
    if text.isdigit():
        return Cut(requests=int(text))
    seconds = seconds_of(text) if text.endswith("s") else None
    if not seconds:
        raise UserError(f"{option} {text!r} is neither a number of requests (20) nor a time (5s).")
    return Cut(seconds=seconds)
