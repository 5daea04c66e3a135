"""What a user says of a measurement under load."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from benchwright.analysis.load.records import Level, Measure, Objective
from benchwright.config import Settings
from benchwright.errors import UserError
from benchwright.formats import seconds_of
from benchwright.stats.windows import Cut

DEFAULT_SECONDS = 30.0
"""How long requests are issued at each level where nothing is said."""

MEASURES: dict[str, Measure] = {
    "ttft": "ttft",
    "latency": "latency",
    "e2el": "latency",
    "itl": "itl",
    "tpot": "itl",
}
"""Objectives by the names that are in use for them."""


class LoadSettings(Settings):
    """`benchwright load`. The prompts are those of one of `benchmark`, `dataset` and `synthetic_input`."""

    benchmark: str | None = None
    dataset: Path | None = None
    synthetic_input: int | None = Field(default=None, ge=1)
    synthetic_output: int | None = Field(default=None, ge=1)

    source: Path | None = None
    data_dir: Path = Path("data")
    limit: int | None = Field(default=None, ge=1)
    shuffle: bool = False
    where: dict[str, str] = {}
    option: dict[str, str] = {}
    plugin: tuple[Path, ...] = ()
    scorer: tuple[str, ...] = ()
    scorer_option: dict[str, str] = {}
    judge_model: str | None = None
    judge_base_url: str | None = None
    judge_api_key_env: str | None = None
    column: dict[str, str] = {}
    system: str | None = None
    template: str | None = None

    levels: tuple[int, ...] = ()
    """Concurrencies; of a sweep the first."""
    rates: tuple[float, ...] = ()
    arrivals: Literal["constant", "poisson", "trace"] | None = None
    trace: Path | None = None
    max_in_flight: int = Field(default=1024, ge=1)
    requests: int | None = Field(default=None, ge=1)
    duration: float | None = Field(default=None, gt=0)
    warmup: str | None = None
    cooldown: str | None = None

    sweep: bool = False
    gain: float = Field(default=0.1, gt=0, lt=1)
    """A level is saturated if doubling it serves less than this share more."""
    bisect: int = Field(default=2, ge=0)
    most: float | None = Field(default=None, gt=0)
    """The highest level of a sweep."""
    slo: tuple[str, ...] = ()

    metrics: bool = True
    metrics_url: str | None = None
    retries: int = Field(default=0, ge=0)
    max_wait: float = Field(default=0.0, ge=0)
    output: Path | None = None


def chosen_levels(settings: LoadSettings) -> list[Level]:
    """The levels that are asked for, of a sweep the first.

    Raises:
        UserError: they contradict each other, or one is no level.
    """
    arrivals = settings.arrivals
    if settings.trace is not None or arrivals == "trace":
        if settings.trace is None:
            raise UserError("--arrivals trace needs --trace FILE: offsets in seconds, one a line.")
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
    if settings.sweep and len(levels) > 1:
        raise UserError("--sweep finds the levels itself: give one level to start from.")
    return levels


def objectives(settings: LoadSettings) -> list[Objective]:
    """The objectives of `--slo`: `ttft=0.5`, `latency=10s`, `itl=50ms`.

    Raises:
        UserError: one is none of these, is there twice, or cannot be measured without streaming.
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
        if measure in found:
            raise UserError(f"Two objectives are given for {measure}.")
        if measure != "latency" and not settings.stream:
            raise UserError(f"--slo {name} needs streaming: remove --no-stream.")
        found[measure] = Objective(measure, seconds)
    return list(found.values())


def cut_of(text: str | None, option: str, default: Cut) -> Cut:
    """A warm-up or cool-down: `20` requests, or `5s`.

    Raises:
        UserError: it is neither.
    """
    if text is None:
        return default
    if text.isdigit():
        return Cut(requests=int(text))
    seconds = seconds_of(text) if text.endswith("s") else None
    if not seconds:
        raise UserError(f"{option} {text!r} is neither a number of requests (20) nor a time (5s).")
    return Cut(seconds=seconds)
