"""User settings as Pydantic models, the same for all front doors (options, TOML file, Python).

Every field has the name of its option with underscores; `--batch-size` is `concurrency`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from benchwright.access_settings import AccessSettings, HeadersEnv, PlainHeaders

MOST_BY_ITSELF = 512
"""Maximum number of trials in flight under `--concurrency auto`."""

LONGEST_NAME = 100
"""Maximum length of a run's name in characters."""

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""Reasoning effort levels. Not every server supports all of them."""

ThinkingStyle = Literal[
    "openai",
    "openrouter",
    "vllm",
    "sglang",
    "llama.cpp",
    "anthropic",
    "gemini",
    "dashscope",
    "deepseek",
    "zai",
    "kimi",
    "litellm",
]
"""Server-specific styles of request fields for reasoning; see `endpoint.thinking`."""

AtLeastOne = Annotated[int, Field(ge=1)]


class ModelEntry(AccessSettings):
    """One of several models: its address and its own settings. None means the setting shared by all models.

    `name` is the name in results, by default `model`. `api_key_env` names the environment variable that holds
    the API key.
    """

    model: str
    name: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    max_tokens: int | None = Field(default=None, gt=0)
    seed: int | None = None
    param: dict[str, Any] = {}
    reasoning_effort: Effort | None = None
    thinking_budget: int | None = Field(default=None, ge=0)
    thinking_style: ThinkingStyle | None = None

    @property
    def title(self) -> str:
        """Name of the model in results."""
        return self.name or self.model


def words_of(complaint: Mapping[str, Any]) -> str:
    """Return the message of one of the `errors()` of a `ValidationError`, without Pydantic's prefix."""
    return str(complaint["msg"]).removeprefix("Value error, ")


def _entry(given: Any) -> Any:
    return {"model": given} if isinstance(given, str) else given


Models = tuple[Annotated[ModelEntry, BeforeValidator(_entry)], ...]
"""Several models. A plain string is a model without settings of its own."""


def one_line_name(name: str) -> str:
    """Return the name without surrounding white space.

    Raises:
        ValueError: If the name is empty, longer than `LONGEST_NAME` characters, or not printable on one line.
    """
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValueError(f"give one line of up to {LONGEST_NAME} characters")
    return name


class Settings(AccessSettings):
    """Settings that all commands for running share: endpoint, limits, concurrency and execution."""

    name: Annotated[str, AfterValidator(one_line_name)] | None = None
    """Name of a new run, instead of the generated label."""
    suite: Annotated[str, AfterValidator(one_line_name)] | None = None
    """Suite that a new run belongs to."""
    model: str | None = None
    """The model, or the first of several."""
    models: Models = ()
    """All models, if there are several. Each sample is tried with one model after another."""
    base_url: str | None = None
    api_key: SecretStr | None = None
    temperature: float | None = None
    max_tokens: int | None = Field(default=None, gt=0)
    seed: int | None = None
    param: dict[str, Any] = {}
    """Additional body fields for every request, passed on unchanged."""

    concurrency: int | Literal["auto"] = 1
    """Number of trials in flight at the same time. `auto` searches for the best number during the run."""
    executor: Literal["local", "ray"] = "local"
    workers: int | None = Field(default=None, ge=1)
    """Number of processes that share the concurrency. None: one locally, or one per CPU of a Ray cluster."""
    ray_address: str | None = None
    stream: bool = True
    timeout: float = Field(default=300.0, gt=0)
    """Maximum seconds until the first byte of a response, and until its first token."""
    request_seconds: float = Field(default=3600.0, gt=0)
    """Maximum seconds for one request, retries included."""
    answer_mb: int = Field(default=128, ge=1)
    """Maximum size of one response in MiB."""
    retries: int = Field(default=5, ge=0)
    max_wait: float = Field(default=600.0, ge=0)
    """Maximum seconds that one trial may spend waiting for rate limits, in total."""

    trial_tokens: int | None = Field(default=None, gt=0)
    trial_seconds: float | None = Field(default=None, gt=0)
    budget_tokens: int | None = Field(default=None, gt=0)
    budget_seconds: float | None = Field(default=None, gt=0)

    fresh: bool = False
    retry_failed: bool = False
    dry_run: bool = False
    fsync: Literal["second", "always"] = "second"
    probe: bool = True
    """True: ask endpoints for their list of models before the first trial."""
    otel: str | None = None
    """Address of the OpenTelemetry collector to which spans and scores are sent."""
    max_failures: str | None = Field(default=None, pattern=r"^[0-9]+$|^[0-9]+(\.[0-9]+)?%$")
    """Number of trials, or share such as `2%`, that may fail before the command counts as incomplete."""

    @model_validator(mode="before")
    @classmethod
    def _first_model(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not given.get("models"):
            return given
        first = given["models"][0]
        name = first if isinstance(first, str) else getattr(first, "model", None) or first.get("model")
        return {**given, "model": name}

    @property
    def tried(self) -> Models:
        """The models under test, one or several."""
        if self.models or self.model is None:
            return self.models
        return (ModelEntry(model=self.model),)

    @property
    def most_in_flight(self) -> int:
        """Maximum number of trials in flight at the same time."""
        return MOST_BY_ITSELF if self.concurrency == "auto" else self.concurrency


class ThinkingSettings(Settings):
    """Settings for reasoning effort, and for the request settings that a model's authors recommend."""

    reasoning_effort: Effort | None = None
    thinking_budget: int | None = Field(default=None, ge=0)
    """Maximum number of reasoning tokens; 0 turns reasoning off."""
    thinking_style: ThinkingStyle | None = None
    """Style of the server's request fields for reasoning. None: detect it from the server."""
    recommended: bool = False
    recommended_file: Path | None = None
    """File of settings per model family, used before the user's own file and the shipped one.

    Implies `recommended`.
    """


class DecidingSettings(Settings):
    """Settings for runs that take samples in random order and may stop once a question is decided."""

    until: Literal["decided", "not-worse"] | None = None
    against: str | None = None
    """Run or result file that supplies the old model's answers, so that the old model is not asked."""
    margin: float = Field(default=0.0, ge=0)
    """The difference that matters, in units of the score."""
    error: float = Field(default=0.05, gt=0, lt=0.5)
    at_least: int = Field(default=1, ge=1)
    """Minimum number of samples before anything is decided."""
    decide_for: Literal["new-questions", "these-samples"] = "new-questions"
    decide_on: tuple[str, ...] = ()
    """Names of the scores to decide on. Empty: the scores that `app.until` chooses."""


class EvalSettings(DecidingSettings, ThinkingSettings):
    """Settings of `benchwright eval`: a dataset, a model or agent, and scorers."""

    dataset: Path | None = None
    module: str | None = None
    mcp: Path | None = None
    agent_command: str | None = None
    agent: str | None = None
    """Recipe name of a command-line agent."""
    eval_fn: tuple[str, ...] = ()
    scorer: tuple[str, ...] = ()
    scorer_option: dict[str, str] = {}
    column: dict[str, str] = {}
    system: str | None = None
    template: str | None = None
    group_by: str | None = None
    skip_bad_rows: bool = False
    """True: leave out invalid rows and count them."""

    n: int = 1
    pass_threshold: float = 1.0
    max_turns: int = 10
    limit: int | None = None
    offset: int = 0

    baseline_model: str | None = None
    baseline_base_url: str | None = None
    baseline_api_key: SecretStr | None = None
    baseline_headers: PlainHeaders = {}
    baseline_headers_env: HeadersEnv = {}

    anew: bool = False
    """For a finished evaluation: True runs it again (`bench`), False shows its results (`eval`)."""

    reuse: bool = False
    rescore: bool = False
    log_samples: bool = False
    debug: bool = False
    """True: write what the agent logs by `ctx.log_event` to files."""

    output: Path | None = None
    output_path: Path | None = None

    judge_model: str | None = None
    judge_base_url: str | None = None
    judge_api_key_env: str | None = None
    judge_headers: PlainHeaders = {}
    judge_headers_env: HeadersEnv = {}
    judge_labels: Path | None = None
    """File of human labels, used to correct the judge's scores."""


class TaskSettings(ThinkingSettings):
    """Settings of `benchwright.evaluate` with a `Task` object from the caller."""

    n: int = Field(default=1, ge=1)
    pass_threshold: float = 1.0
    max_turns: int | None = Field(default=None, ge=1)


Where = dict[str, str | tuple[str, ...]]
"""Filter on samples: accepted values by label name, or by `id`. A tuple accepts any of its values."""


JUDGE = ("judge_model", "judge_base_url", "judge_api_key_env", "judge_headers", "judge_headers_env")
"""Settings that describe the judge of a benchmark, named like the corresponding options."""


def as_option(value: Any) -> str:
    """Return a judge setting in the format of a benchmark option; headers become lines of NAME=VALUE."""
    if isinstance(value, Mapping):
        value = [f"{name}={one}" for name, one in value.items()]
    return str(value) if isinstance(value, str) else "\n".join(value)


class BenchmarkSettings(DecidingSettings, ThinkingSettings):
    """Settings of `benchwright run`: benchmarks of the catalog.

    None means the value of the benchmark's protocol.
    """

    run: Path | None = None
    """The run to continue, even if other runs match."""

    concurrency: AtLeastOne | Literal["auto"] = 8
    seed: int | None = 42
    max_samples: int | None = Field(default=None, gt=0)
    n: int = Field(default=1, ge=1)
    shuffle: bool = False
    where: Where = {}
    ids: Path | None = None
    """File of sample ids, one per line."""
    option: dict[str, str] = {}
    plugin: tuple[Path, ...] = ()
    keep_images: Literal["none", "base", "all"] | None = None
    """Container images to keep after their last trial. None: all, unless the disk is too small for them."""
    agent: str | None = None
    """Recipe name of a command-line agent that works in the containers."""
    seal: bool = True
    """True: seal agents in containers. False: follow their official protocol to the letter."""

    judge_model: str | None = None
    """Judge model, for benchmarks that use one. This field and the next four are stored in `option`."""
    judge_base_url: str | None = None
    judge_api_key_env: str | None = None
    judge_headers: PlainHeaders = {}
    judge_headers_env: HeadersEnv = {}
    judge_labels: Path | None = None
    """File of human labels, used to correct the judge's scores."""

    output_dir: Path = Path("results")
    data_dir: Path = Path("data")

    scrape_prometheus: bool = False
    prometheus_url: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _judge_among_options(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        judge = {name: as_option(given[name]) for name in JUDGE if given.get(name)}
        options = given.get("option") or {}
        for name in judge.keys() & options.keys():
            if judge[name] != options[name]:
                raise ValueError(
                    f"{name} {judge[name]!r} and the option {name}={options[name]} contradict each other: give one"
                )
        rest = {name: value for name, value in given.items() if name not in JUDGE}
        return {**rest, "option": {**options, **judge}} if judge else rest


class PackSettings(DecidingSettings):
    """Settings of `benchwright pack run`: bench packs against models.

    None means the pack's own value, or no value.
    """

    run: Path | None = None
    """The run to continue, even if other runs match."""

    concurrency: AtLeastOne | Literal["auto"] = 8
    n: int = Field(default=1, ge=1)
    mode: str | None = None
    """Execution mode. None: parallel_by_test_case, or parallel_by_model if there is one model."""
    scenario: tuple[str, ...] = ()

    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    presence_penalty: float | None = None

    scenario_seconds: float | None = Field(default=None, gt=0)
    """Maximum seconds for one attempt at a scenario."""
    cell_retries: int = Field(default=2, ge=0)
    """Number of further attempts at a scenario after a transient provider error."""
    prepare_seconds: float = Field(default=300.0, gt=0)
    pack_memory: int = Field(default=4096, gt=0)
    """Memory limit of the pack's process in MiB."""

    direct: bool = False
    keep_verifiers: bool = False
    provider_errors: bool = False
    errors: bool = False
    """True: retry the cells without a result in the latest matching run."""
    retry_scenario: tuple[str, ...] = ()
    """Scenarios to retry in the latest matching run."""
    node: str = "node"
    compatible_version: str | None = None
    """Version of the desktop host that Benchwright reports as its own to packs."""
