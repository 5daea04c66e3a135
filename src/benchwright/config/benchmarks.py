"""Settings that only benchmarks have: their options, samples, containers and result files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from benchwright.config.composed_settings import SettingsSection

LabelFilter = dict[str, str | tuple[str, ...]]
"""Type: filter on samples. It maps a label name, or `id`, to an accepted value or to a tuple of accepted values."""


class CatalogSettings(SettingsSection):
    """A benchmark's own options, the plug-ins that define more benchmarks, and the folder of datasets."""

    option: dict[str, str] = {}
    plugin: tuple[Path, ...] = ()
    data_dir: Path = Path("data")


class SelectionSettings(SettingsSection):
    """Selection and order of a benchmark's samples."""

    shuffle: bool = False
    where: LabelFilter = {}
    ids: Path | None = None
    """File of the sample ids to run, one id per line."""


class BenchmarkSelection(SelectionSettings):
    """Selection and order of a benchmark's samples, their maximum number, and the number of repeats of each sample
    (`n`).
    """

    max_samples: int | None = Field(default=None, gt=0)
    n: int = Field(default=1, ge=1)


class ContainerSettings(SettingsSection):
    """Settings of benchmarks that work in containers."""

    keep_images: Literal["none", "base", "all"] | None = None
    """Container images to keep after their last trial. None: keep all images, unless the disk is too small for that."""
    agent: str | None = None
    """Name of the recipe of a command-line agent that works in the containers. None: no command-line agent."""
    seal: bool = True
    """True: seal agents in containers (keep them away from answers and tests).

    False: follow the agents' official protocol to the letter.
    """


class ResultSettings(SettingsSection):
    """The folder in which documented result files are written."""

    output_dir: Path = Path("results")


class PrometheusSettings(SettingsSection):
    """Settings for reading the metrics of the model's server."""

    scrape_prometheus: bool = False
    prometheus_url: str | None = None
