"""How a run is carried out: its name, its limits, its concurrency, and how an earlier run is treated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from benchwright.config.composed_settings import SettingsSection

MAX_AUTO_CONCURRENCY = 512
"""Maximum number of trials in flight under `--concurrency auto`."""

MAX_RUN_NAME_LENGTH = 100
"""Maximum length of a run's name in characters."""

PositiveInt = Annotated[int, Field(ge=1)]


def check_run_name(name: str) -> str:
    """Return the name without surrounding white space.

    Raises:
        ValueError: If the name is empty, longer than `MAX_RUN_NAME_LENGTH` characters, or not printable on one line.
    """
    name = name.strip()
    if not 0 < len(name) <= MAX_RUN_NAME_LENGTH or not name.isprintable():
        raise ValueError(f"give one line of up to {MAX_RUN_NAME_LENGTH} characters")
    return name


class LabelSettings(SettingsSection):
    """The name of a new run, and the suite to which the run belongs."""

    name: Annotated[str, AfterValidator(check_run_name)] | None = None
    """Name of a new run. None: a name is generated."""
    suite: Annotated[str, AfterValidator(check_run_name)] | None = None
    """Suite to which a new run belongs."""


class LimitSettings(SettingsSection):
    """Timeouts, retries, limits of a trial, budgets, and the number of trials that may fail."""

    timeout: float = Field(default=300.0, gt=0)
    """Maximum seconds until the first byte of a response. Also the maximum seconds until its first token."""
    request_seconds: float = Field(default=3600.0, gt=0)
    """Maximum seconds for one request, retries included."""
    answer_mb: int = Field(default=128, ge=1)
    """Maximum size of one response in MiB."""
    retries: int = Field(default=5, ge=0)
    max_wait: float = Field(default=600.0, ge=0)
    """Maximum seconds that one trial may wait for rate limits, over all its requests."""

    trial_tokens: int | None = Field(default=None, gt=0)
    trial_seconds: float | None = Field(default=None, gt=0)
    budget_tokens: int | None = Field(default=None, gt=0)
    budget_seconds: float | None = Field(default=None, gt=0)
    max_failures: str | None = Field(default=None, pattern=r"^[0-9]+$|^[0-9]+(\.[0-9]+)?%$")
    """Number of trials that may fail before the command counts as incomplete. It can be a share, such as `2%`."""


class ExecutionSettings(SettingsSection):
    """How trials are executed, what is checked before the first trial, and what is written besides the results."""

    concurrency: int | Literal["auto"] = 1
    """Number of trials in flight at the same time. The value `auto` searches for the best number during the run."""
    executor: Literal["local", "ray"] = "local"
    workers: int | None = Field(default=None, ge=1)
    """Number of processes that share the concurrency. None: one process, or one per CPU of a Ray cluster."""
    ray_address: str | None = None
    stream: bool = True
    dry_run: bool = False
    fsync: Literal["second", "always"] = "second"
    probe: bool = True
    """True: ask endpoints for their list of models before the first trial."""
    otel: str | None = None
    """Address of the OpenTelemetry collector to which spans and scores are sent."""

    @property
    def max_trials_in_flight(self) -> int:
        """Maximum number of trials in flight at the same time."""
        return MAX_AUTO_CONCURRENCY if self.concurrency == "auto" else self.concurrency

    @property
    def uses_several_processes(self) -> bool:
        """True if several processes, or a cluster, execute the trials."""
        return self.executor == "ray" or self.workers not in (None, 1)


class ParallelExecution(ExecutionSettings):
    """How trials of benchmarks and packs are executed. By default, 8 trials are in flight at the same time."""

    concurrency: PositiveInt | Literal["auto"] = 8


class ResumingSettings(SettingsSection):
    """Treatment of an earlier run of the same configuration.

    `fresh`: start over. `retry_failed`: retry failed trials.
    """

    fresh: bool = False
    retry_failed: bool = False


class EvalResuming(ResumingSettings):
    """Treatment of an earlier eval: resume it, show it, run it again, or reuse its conversations."""

    anew: bool = False
    """For a finished evaluation: True runs it again (`bench`), False shows its results (`eval`)."""
    reuse: bool = False
    rescore: bool = False
    run: Path | None = None
    """The run that the user named. It is an error if it cannot be continued."""


class BenchmarkResuming(ResumingSettings):
    """Treatment of an earlier run of a benchmark. The user can also choose the run to continue (`run`)."""

    run: Path | None = None
    """The run to continue, even if other runs match."""


class PackResuming(ResumingSettings):
    """Treatment of an earlier run of a pack, and selection of the cells (scenario, model, repeat) to retry."""

    run: Path | None = None
    """The run to continue, even if other runs match."""
    provider_errors: bool = False
    errors: bool = False
    """True: retry the cells without a result in the latest matching run."""
    retry_scenario: tuple[str, ...] = ()
    """Scenarios to retry in the latest matching run."""

    @property
    def retries_cells(self) -> bool:
        """True if cells of a finished run are to be retried."""
        return bool(self.retry_failed or self.provider_errors or self.errors or self.retry_scenario)


class DecidingSettings(SettingsSection):
    """Settings of the question (`until`) that a run decides.

    Such a run takes samples in random order, and stops once the question is decided.
    """

    until: Literal["decided", "not-worse"] | None = None
    against: str | None = None
    """Earlier run or result file that supplies the old model's answers, so that the old model is not asked."""
    margin: float = Field(default=0.0, ge=0)
    """The difference between the models that matters, in units of the score."""
    error: float = Field(default=0.05, gt=0, lt=0.5)
    at_least: int = Field(default=1, ge=1)
    """Minimum number of samples that are used before anything is decided."""
    decide_for: Literal["new-questions", "these-samples"] = "new-questions"
    decide_on: tuple[str, ...] = ()
    """Names of the scores to decide on. Empty: the scores that `app.until` chooses."""
