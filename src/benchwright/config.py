"""What a user writes: settings as Pydantic models, one for every way in (options, TOML file, Python).

Every field has the name of its option with underscores; `--batch-size` is `concurrency`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from benchwright.access_settings import AccessSettings, HeadersEnv, PlainHeaders

MOST_BY_ITSELF = 512
"""The most trials that `--concurrency auto` ever has in flight."""

LONGEST_NAME = 100
"""Characters of a run's name."""

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model shall think, in levels; not every server has all of them."""

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
"""How a server wants to be told; see `endpoint.thinking`."""

AtLeastOne = Annotated[int, Field(ge=1)]


class ModelEntry(AccessSettings):
    """One of several models: where it is, and the settings that it has for itself. None stands for those of all.

    `name` is what it is called in results, by default `model`. The key is in the environment variable `api_key_env`.
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
        """What it is called in results."""
        return self.name or self.model


def words_of(complaint: Mapping[str, Any]) -> str:
    """What is wrong with a value, in words, of one of the `errors()` of a `ValidationError`."""
    return str(complaint["msg"]).removeprefix("Value error, ")


def _entry(given: Any) -> Any:
    return {"model": given} if isinstance(given, str) else given


Models = tuple[Annotated[ModelEntry, BeforeValidator(_entry)], ...]
"""Several models; a plain name is one without settings of its own."""


def one_line_name(name: str) -> str:
    """A name without blanks around it.

    Raises:
        ValueError: it is not a name of one line.
    """
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValueError(f"give one line of up to {LONGEST_NAME} characters")
    return name


class Settings(AccessSettings):
    """What every way to run something has in common: the endpoint, limits, and how to go about it."""

    name: Annotated[str, AfterValidator(one_line_name)] | None = None
    """What a new run is called in place of the label that is made for it."""
    suite: Annotated[str, AfterValidator(one_line_name)] | None = None
    """The suite that a new run is part of."""
    model: str | None = None
    """The model, or the first of several."""
    models: Models = ()
    """All models, where there are several; each sample is tried with one after another."""
    base_url: str | None = None
    api_key: SecretStr | None = None
    temperature: float | None = None
    max_tokens: int | None = Field(default=None, gt=0)
    seed: int | None = None
    param: dict[str, Any] = {}
    """Further body fields of every request, passed on as they are."""

    concurrency: int | Literal["auto"] = 1
    """Trials in flight at once; with `auto` as many as serve, found while they run."""
    executor: Literal["local", "ray"] = "local"
    workers: int | None = Field(default=None, ge=1)
    """Processes that share the concurrency: by default one here, and one per CPU of a Ray cluster."""
    ray_address: str | None = None
    stream: bool = True
    timeout: float = Field(default=300.0, gt=0)
    """Seconds to wait for the first byte of an answer, and for its first token."""
    request_seconds: float = Field(default=3600.0, gt=0)
    """Seconds that one request may take, its retries included."""
    answer_mb: int = Field(default=128, ge=1)
    """MiB that one answer may have."""
    retries: int = Field(default=5, ge=0)
    max_wait: float = Field(default=600.0, ge=0)
    """Seconds that one trial may wait for rate limits in all."""

    trial_tokens: int | None = Field(default=None, gt=0)
    trial_seconds: float | None = Field(default=None, gt=0)
    budget_tokens: int | None = Field(default=None, gt=0)
    budget_seconds: float | None = Field(default=None, gt=0)

    fresh: bool = False
    retry_failed: bool = False
    dry_run: bool = False
    fsync: Literal["second", "always"] = "second"
    probe: bool = True
    """Whether endpoints are asked for their models before the first trial."""
    otel: str | None = None
    """The address of a collector of OpenTelemetry that spans and scores are sent to."""
    max_failures: str | None = Field(default=None, pattern=r"^[0-9]+$|^[0-9]+(\.[0-9]+)?%$")
    """How many trials may fail, a number or a share such as 2%, before the command counts as incomplete."""

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
        """The models that are tried, one or several."""
        if self.models or self.model is None:
            return self.models
        return (ModelEntry(model=self.model),)

    @property
    def most_in_flight(self) -> int:
        """The most trials that may be in flight at once."""
        return MOST_BY_ITSELF if self.concurrency == "auto" else self.concurrency


class ThinkingSettings(Settings):
    """What says how much models think, and whether they get the settings that their authors recommend."""

    reasoning_effort: Effort | None = None
    thinking_budget: int | None = Field(default=None, ge=0)
    """Tokens of thinking; 0 for none."""
    thinking_style: ThinkingStyle | None = None
    """How the server wants to be told; None: found out from it."""
    recommended: bool = False
    recommended_file: Path | None = None
    """Settings of model families that go before the user's own and the shipped ones; implies `recommended`."""


class DecidingSettings(Settings):
    """What asks samples in a random order, and may stop once a question is decided."""

    until: Literal["decided", "not-worse"] | None = None
    against: str | None = None
    """The run or the result file whose answers are those of the old model, in place of a model that is asked."""
    margin: float = Field(default=0.0, ge=0)
    """The difference that matters, in units of the score."""
    error: float = Field(default=0.05, gt=0, lt=0.5)
    at_least: int = Field(default=1, ge=1)
    """Samples without which nothing is decided."""
    decide_for: Literal["new-questions", "these-samples"] = "new-questions"
    decide_on: tuple[str, ...] = ()
    """The scores that are decided on; none: those that `app.until` says."""


class EvalSettings(DecidingSettings, ThinkingSettings):
    """`benchwright eval`: a dataset, something that answers, something that scores."""

    dataset: Path | None = None
    module: str | None = None
    mcp: Path | None = None
    agent_command: str | None = None
    agent: str | None = None
    """A command-line agent, by the name of its recipe."""
    eval_fn: tuple[str, ...] = ()
    scorer: tuple[str, ...] = ()
    scorer_option: dict[str, str] = {}
    column: dict[str, str] = {}
    system: str | None = None
    template: str | None = None
    group_by: str | None = None
    skip_bad_rows: bool = False
    """Whether rows that are not as they should be are left out, and counted."""

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
    """Whether a finished evaluation is run again (`bench`), not shown (`eval`)."""

    reuse: bool = False
    rescore: bool = False
    log_samples: bool = False
    debug: bool = False
    """Whether what the agent logs by `ctx.log_event` is written to files."""

    output: Path | None = None
    output_path: Path | None = None

    judge_model: str | None = None
    judge_base_url: str | None = None
    judge_api_key_env: str | None = None
    judge_headers: PlainHeaders = {}
    judge_headers_env: HeadersEnv = {}
    judge_labels: Path | None = None
    """A file of people's labels, by which the judge's scores are corrected."""


class TaskSettings(ThinkingSettings):
    """`benchwright.evaluate` with a `Task` of the caller's."""

    n: int = Field(default=1, ge=1)
    pass_threshold: float = 1.0
    max_turns: int | None = Field(default=None, ge=1)


Where = dict[str, str | tuple[str, ...]]
"""Values that labels of samples have, or `id`; of several, any will do."""


JUDGE = ("judge_model", "judge_base_url", "judge_api_key_env", "judge_headers", "judge_headers_env")
"""Settings that say which judge a benchmark asks, named as its options are."""


def as_option(value: Any) -> str:
    """A setting of the judge as a benchmark's option has it: headers in lines, each as NAME=VALUE."""
    if isinstance(value, Mapping):
        value = [f"{name}={one}" for name, one in value.items()]
    return str(value) if isinstance(value, str) else "\n".join(value)


class BenchmarkSettings(DecidingSettings, ThinkingSettings):
    """`benchwright run`: benchmarks of the catalog. None stands for what a benchmark's protocol says."""

    run: Path | None = None
    """The run to go on with, whatever others there are."""

    concurrency: AtLeastOne | Literal["auto"] = 8
    seed: int | None = 42
    max_samples: int | None = Field(default=None, gt=0)
    n: int = Field(default=1, ge=1)
    shuffle: bool = False
    where: Where = {}
    ids: Path | None = None
    """A file of ids of samples, one per line."""
    option: dict[str, str] = {}
    plugin: tuple[Path, ...] = ()
    keep_images: Literal["none", "base", "all"] | None = None
    """What of the images of containers stays; None for all, unless the disk is too small for them."""
    agent: str | None = None
    """A command-line agent that works in the containers, by the name of its recipe."""
    seal: bool = True
    """Whether agents in containers are sealed; else their official protocol is kept to the letter."""

    judge_model: str | None = None
    """The judge of a benchmark that has one; this and the next four are kept in `option`."""
    judge_base_url: str | None = None
    judge_api_key_env: str | None = None
    judge_headers: PlainHeaders = {}
    judge_headers_env: HeadersEnv = {}
    judge_labels: Path | None = None
    """A file of people's labels, by which a judge's scores are corrected."""

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
    """`benchwright pack run`: bench packs against models. None stands for what the pack says, or for nothing."""

    run: Path | None = None
    """The run to go on with, whatever others there are."""

    concurrency: AtLeastOne | Literal["auto"] = 8
    n: int = Field(default=1, ge=1)
    mode: str | None = None
    """None: parallel_by_test_case, or for one model parallel_by_model."""
    scenario: tuple[str, ...] = ()

    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    presence_penalty: float | None = None

    scenario_seconds: float | None = Field(default=None, gt=0)
    """Longest time of one attempt at a scenario."""
    cell_retries: int = Field(default=2, ge=0)
    """Further attempts at a scenario whose provider had passing trouble."""
    prepare_seconds: float = Field(default=300.0, gt=0)
    pack_memory: int = Field(default=4096, gt=0)
    """MiB for the pack's process."""

    direct: bool = False
    keep_verifiers: bool = False
    provider_errors: bool = False
    errors: bool = False
    """Whether the cells without a result are made again in the last such run."""
    retry_scenario: tuple[str, ...] = ()
    """Scenarios to be made again in the last such run."""
    node: str = "node"
    compatible_version: str | None = None
    """The version of the desktop host that this one stands in for."""
