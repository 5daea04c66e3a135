"""Sections of the settings of a load measurement: what is sent, at which levels, and what is computed from the
results.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from benchwright.config import CatalogSettings, LimitSettings, SelectionSettings, SettingsSection

TokenLengthText = Annotated[str, BeforeValidator(str)]
"""A length in tokens; see `synthetic.lengths`."""


class LoadLimits(LimitSettings):
    """Limits of requests under load. Failed requests are counted and, by default, not sent again."""

    retries: int = Field(default=0, ge=0)
    max_wait: float = Field(default=0.0, ge=0)


class LoadCatalog(CatalogSettings):
    """The benchmark whose samples are sent, and its options."""

    benchmark: str | None = None
    source: Path | None = None


class LoadSelection(SelectionSettings):
    """Selection of the samples or dataset rows that are sent, and the maximum number of them."""

    limit: int | None = Field(default=None, ge=1)


class SyntheticSettings(SettingsSection):
    """Settings of synthetic prompts: lengths, turns, images, tools, and the mix of models."""

    synthetic_input: TokenLengthText | None = None
    synthetic_output: TokenLengthText | None = None
    turns: int | None = Field(default=None, ge=1)
    think: float | None = Field(default=None, ge=0)
    """Seconds between the turns of a synthetic conversation. None: 0."""
    shared_prefix: int | None = Field(default=None, ge=1)
    images: int | None = Field(default=None, ge=1)
    image_size: str | None = None
    tool_definitions: int | None = Field(default=None, ge=1)
    model_mix: str | None = None


class ReplaySettings(SettingsSection):
    """Settings for replaying a trace."""

    trace: Path | None = None
    """Trace to replay: a file, a folder, or a run by its id."""
    speed: float | None = Field(default=None, gt=0)
    block_size: int | None = Field(default=None, ge=8)
    """Tokens per block of the trace, if it differs from the format's default."""
    max_think: float | None = Field(default=None, ge=0)


class LevelSettings(SettingsSection):
    """Load levels: their values, how long each is measured, and which part of that time counts."""

    levels: tuple[int, ...] = ()
    """Concurrency levels; for a sweep the first one."""
    rates: tuple[float, ...] = ()
    arrivals: Literal["constant", "poisson", "trace"] | None = None
    max_in_flight: int = Field(default=1024, ge=1)
    requests: int | None = Field(default=None, ge=1)
    duration: float | None = Field(default=None, gt=0)
    warmup: str | None = None
    cooldown: str | None = None
    window: str | None = None
    self_test: bool = False
    """True: before the load, measure what this machine itself can handle."""
    repeats: int = Field(default=1, ge=1)
    """Number of times that each level is measured, in alternating order."""


class SweepSettings(SettingsSection):
    """Settings of a sweep, which searches for the highest useful load level."""

    sweep: bool = False
    gain: float = Field(default=0.1, gt=0, lt=1)
    """A level is saturated if doubling it increases the throughput by less than this share."""
    bisect: int = Field(default=2, ge=0)
    most: float | None = Field(default=None, gt=0)
    """Highest level of a sweep."""


class RegressionSettings(SettingsSection):
    """An earlier measurement to compare this one with, and the largest acceptable loss."""

    against: str | None = None
    """Measurement to compare this one with."""
    max_regression: float | None = Field(default=None, ge=0, lt=1)
    prove: bool = False


class LoadOutput(SettingsSection):
    """Output of a load measurement.

    The settings are service-level objectives and prices for the report, the report's file, and the share of
    conversations that is stored.
    """

    slo: tuple[str, ...] = ()
    price: tuple[str, ...] = ()
    """`IN,OUT` per million tokens, or `COST/h` per hour of hardware.

    The prefix `MODEL=` selects one of several models.
    """
    keep_bodies: float = Field(default=1.0, ge=0, le=1)
    """Share of the conversations that is stored. Conversations of failed trials are stored in any case."""
    output: Path | None = None


class MetricsSettings(SettingsSection):
    """Metrics of the server and of its devices."""

    metrics: bool = True
    metrics_url: str | None = None
    energy_url: str | None = None
    """URL of the metrics of all devices that serve the model, in the format of NVIDIA's DCGM exporter."""
