"""User settings of a load measurement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from benchwright.analysis.load.records import LoadLevel, Objective, ObjectiveMeasure, ServerPrice, SweepPlan
from benchwright.app.load.sections import (
    LevelSettings,
    LoadCatalog,
    LoadLimits,
    LoadOutput,
    LoadSelection,
    MetricsSettings,
    RegressionSettings,
    ReplaySettings,
    SweepSettings,
    SyntheticSettings,
)
from benchwright.config import JudgeSettings, RowSettings, ScorerSettings, Settings
from benchwright.errors import UserError
from benchwright.formats import parse_duration
from benchwright.stats.windows import WindowTrim

DEFAULT_LEVEL_SECONDS = 30.0
"""Default seconds for which requests are sent at each level."""

MEASURE_BY_NAME: dict[str, ObjectiveMeasure] = {
    "ttft": "ttft",
    "latency": "latency",
    "e2el": "latency",
    "itl": "itl",
    "tpot": "itl",
}
"""Mapping from the common name of an objective (such as `e2el`) to the measure that it limits (such as `latency`)."""

MIN_SUSPICIOUS_VALUE: dict[ObjectiveMeasure, float] = {"ttft": 60, "itl": 5, "latency": 1000}
"""For each measure, the smallest objective in seconds that is rejected if it has no unit.

The user probably meant milliseconds.
"""


class LoadSettings(Settings):
    """Settings of `benchwright load`.

    Prompts come from one of `benchmark`, `dataset`, `synthetic_input` and `trace`.
    """

    if TYPE_CHECKING:  # the flat names are checked when the settings are made

        def __init__(self, **flat: Any) -> None: ...

    OPTIONLESS_SECTIONS: ClassVar[frozenset[str]] = frozenset({"deciding"})

    limits: LoadLimits = LoadLimits()
    catalog: LoadCatalog = LoadCatalog()
    selection: LoadSelection = LoadSelection()
    rows: RowSettings = RowSettings()
    synthetic: SyntheticSettings = SyntheticSettings()
    replay: ReplaySettings = ReplaySettings()
    scoring: ScorerSettings = ScorerSettings()
    judge: JudgeSettings = JudgeSettings()
    load: LevelSettings = LevelSettings()
    search: SweepSettings = SweepSettings()
    regression: RegressionSettings = RegressionSettings()
    report: LoadOutput = LoadOutput()
    monitoring: MetricsSettings = MetricsSettings()

    @property
    def has_prompts(self) -> bool:
        """True if the settings name prompts to send."""
        others = (
            self.catalog.benchmark,
            self.rows.dataset,
            self.synthetic.synthetic_input,
            self.replay.trace,
        )
        return any(one is not None for one in others)

    @property
    def replays_requests(self) -> bool:
        """True if the requests of the trace are replayed, and not only their times."""
        others = (self.catalog.benchmark, self.rows.dataset, self.synthetic.synthetic_input)
        return self.replay.trace is not None and all(one is None for one in others)


def chosen_levels(settings: LoadSettings, *, timed: bool = True) -> list[LoadLevel]:
    """Return the load levels that the settings ask for; for a sweep, only the first one.

    `timed`: False if the trace has no times.

    Raises:
        UserError: If options contradict each other, or a level is invalid.
    """
    arrivals = settings.load.arrivals
    if settings.replay.trace is None and arrivals == "trace":
        raise UserError("--arrivals trace needs --trace FILE.")
    if not timed and (arrivals == "trace" or not settings.replays_requests):
        raise UserError(
            f"{settings.replay.trace} does not say when its conversations begin: choose --concurrency (conversations "
            "at once) or --rate (started per second)."
        )
    if settings.replay.trace is not None and timed:
        if (
            arrivals not in (None, "trace")
            or settings.load.rates
            or settings.load.levels
            or settings.search.sweep
        ):
            raise UserError(
                "--trace sets the load itself: remove --rate, --concurrency, --sweep and --arrivals."
            )
        return [LoadLevel(arrivals="trace")]
    if settings.load.rates:
        if settings.load.levels:
            raise UserError("--rate (open loop) and --concurrency (closed loop) cannot be combined.")
        levels = [LoadLevel(rate=rate, arrivals=arrivals or "poisson") for rate in settings.load.rates]
        if any(not 0 < level.rate < 1e6 for level in levels if level.rate is not None):
            raise UserError("--rate takes requests per second, above 0.")
    else:
        if arrivals is not None:
            raise UserError("--arrivals requires --rate; with --concurrency, each request follows an answer.")
        levels = [LoadLevel(concurrency=number) for number in settings.load.levels or (1,)]
        if any(not 0 < level.concurrency <= 65_536 for level in levels if level.concurrency is not None):
            raise UserError("--concurrency takes numbers of requests in flight, 1 or more.")
    if (
        settings.regression.max_regression is not None or settings.regression.prove
    ) and settings.regression.against is None:
        raise UserError("--max-regression and --prove need --against LOAD: the measurement to compare with.")
    if settings.regression.prove and settings.regression.max_regression is None:
        raise UserError("--prove needs --max-regression: the largest acceptable loss, such as 0.1.")
    if settings.search.sweep and settings.load.repeats > 1:
        raise UserError(
            "--sweep finds its levels as it goes: repeat those that matter with --concurrency and --repeats."
        )
    if settings.search.sweep and len(levels) > 1:
        raise UserError("--sweep finds the levels itself: give one level to start from.")
    return levels


def parse_objectives(slo: Sequence[str], *, stream: bool) -> list[Objective]:
    """Return the service-level objectives given by `--slo`, such as `ttft=0.5`, `latency=10s`, `itl=50ms`.

    Raises:
        UserError: If an objective is invalid or repeated, seems to be in milliseconds without a unit, or needs
            streaming that is off.
    """
    found: dict[str, Objective] = {}
    for text in slo:
        name, _, value = text.partition("=")
        measure = MEASURE_BY_NAME.get(name.strip().lower())
        seconds = parse_duration(value)
        if measure is None or not seconds:
            raise UserError(
                f"--slo {text!r} is not an objective: use ttft=S, latency=S or itl=S, with S in seconds or like 50ms."
            )
        if value.strip()[-1].isdecimal() and seconds >= MIN_SUSPICIOUS_VALUE[measure]:
            raise UserError(
                f"--slo {text} would be {seconds:g} seconds: write {name}={value}ms, or {name}={value}s if you mean "
                "that."
            )
        if measure in found:
            raise UserError(f"Two objectives are given for {measure}.")
        if measure != "latency" and not stream:
            raise UserError(f"--slo {name} needs streaming: remove --no-stream.")
        found[measure] = Objective(measure, seconds)
    return list(found.values())


def window_bounds(load: LevelSettings) -> tuple[float, float] | None:
    """Return the part of each level that counts, as (begin, end) in seconds. None without --window.

    Raises:
        UserError: If the window is invalid, or a warm-up or cool-down is given too.
    """
    if load.window is None:
        return None
    if load.warmup is not None or load.cooldown is not None:
        raise UserError("--window says which part of a level counts: remove --warmup and --cooldown.")
    begin, _, end = load.window.partition(":")
    found = parse_duration(begin), parse_duration(end)
    if found[0] is None or found[1] is None or not found[0] < found[1]:
        raise UserError(f"--window {load.window!r}: give BEGIN:END in seconds of the level, such as 10:60.")
    return found[0], found[1]


def price_of(prices: Sequence[str], model: str) -> ServerPrice | None:
    """Return the price that was given for this model by name.

    If there is none, return the price that was given for all models. Return None if there is neither.

    Raises:
        UserError: If a price is invalid.
    """
    found: dict[str, ServerPrice] = {}
    for text in prices:
        name, _, amounts = text.rpartition("=")
        found[name] = _price(amounts, text)
    return found.get(model, found.get(""))


def _price(amounts: str, typed: str) -> ServerPrice:
    try:
        if amounts.endswith("/h"):
            price = ServerPrice(hour=float(amounts[:-2]))
        else:
            before, after = map(float, amounts.split(","))
            price = ServerPrice(before, after)
    except ValueError:
        price = ServerPrice(-1)
    if not all(0 <= amount < float("inf") for amount in (price.input, price.output, price.hour or 0.0)):
        raise UserError(
            f"--price {typed!r}: give IN,OUT for a million tokens, such as 0.5,1.5, or the cost of an hour: 2.5/h."
        )
    return price


def make_sweep_plan(search: SweepSettings) -> SweepPlan:
    """Return the plan by which a sweep chooses its next level."""
    return SweepPlan(search.gain, search.bisect, search.most)


def parse_window_trim(text: str | None, option: str, default: WindowTrim) -> WindowTrim:
    """Return the part that is cut from the start (warm-up) or end (cool-down) of a level.

    `text`: a number of requests (`20`) or a duration (`5s`).

    Raises:
        UserError: If the text is neither a number of requests nor seconds.
    """
    if text is None:
        return default
    if text.isdigit():
        return WindowTrim(requests=int(text))
    seconds = parse_duration(text) if text.endswith("s") else None
    if not seconds:
        raise UserError(f"{option} {text!r} is neither a number of requests (20) nor a time (5s).")
    return WindowTrim(seconds=seconds)
