"""Typed keyword arguments of functions that make a run.

There is one argument for each field of the settings; see `config`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from benchwright.endpoint.credentials import read_key
from benchwright.errors import UserError

if TYPE_CHECKING:
    from pydantic import BaseModel

    Kind = TypeVar("Kind", bound=BaseModel)


class AccessArguments(TypedDict, total=False):
    """Access to an endpoint besides its address and API key; see `access_settings.AccessSettings`."""

    headers: Mapping[str, str]
    headers_env: Mapping[str, str]
    ca_file: str | Path | None
    client_cert: str | Path | None
    client_key: str | Path | None


class RunArguments(AccessArguments, total=False):
    """Arguments that every function for runs takes; see `config.Settings`."""

    name: str | None
    temperature: float | None
    max_tokens: int | None
    seed: int | None
    param: Mapping[str, Any]
    concurrency: int | Literal["auto"]
    executor: Literal["local", "ray"]
    workers: int | None
    ray_address: str | None
    stream: bool
    timeout: float
    request_seconds: float
    answer_mb: int
    retries: int
    max_wait: float
    trial_tokens: int | None
    trial_seconds: float | None
    budget_tokens: int | None
    budget_seconds: float | None
    fresh: bool
    retry_failed: bool
    fsync: Literal["second", "always"]
    probe: bool
    otel: str | None
    max_failures: str | None


class DecidingArguments(RunArguments, total=False):
    """Arguments of runs that may stop once the better model is decided; see `config.DecidingSettings`."""

    until: Literal["decided", "not-worse"] | None
    against: str | None
    margin: float
    error: float
    at_least: int
    decide_for: Literal["new-questions", "these-samples"]
    decide_on: Sequence[str]


class ThinkingArguments(TypedDict, total=False):
    """Arguments for reasoning effort and recommended settings; see `config.ThinkingSettings`."""

    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None
    thinking_budget: int | None
    thinking_style: str | None
    recommended: bool
    recommended_file: str | Path | None


class EvalArguments(DecidingArguments, ThinkingArguments, total=False):
    """Arguments of `evaluate`; see `config.EvalSettings`."""

    mcp: str | Path | None
    agent_command: str | None
    eval_fn: Sequence[str]
    scorer_option: Mapping[str, str]
    column: Mapping[str, str]
    system: str | None
    template: str | None
    group_by: str | None
    skip_bad_rows: bool
    n: int
    pass_threshold: float
    max_turns: int
    limit: int | None
    offset: int
    baseline_model: str | None
    baseline_base_url: str | None
    baseline_api_key: str | None
    baseline_headers: Mapping[str, str]
    baseline_headers_env: Mapping[str, str]
    judge_model: str | None
    judge_base_url: str | None
    judge_api_key_env: str | None
    judge_headers: Mapping[str, str]
    judge_headers_env: Mapping[str, str]
    judge_labels: str | Path | None
    reuse: bool
    rescore: bool
    log_samples: bool
    debug: bool
    output: str | Path | None
    output_path: str | Path | None


class BenchmarkArguments(DecidingArguments, ThinkingArguments, total=False):
    """Arguments of `run_benchmark`; see `config.BenchmarkSettings`."""

    max_samples: int | None
    n: int
    shuffle: bool
    where: Mapping[str, str | Sequence[str]]
    ids: str | Path | None
    option: Mapping[str, str]
    plugin: Sequence[str | Path]
    agent: str | None
    keep_images: Literal["none", "base", "all"] | None
    seal: bool
    judge_model: str | None
    judge_base_url: str | None
    judge_api_key_env: str | None
    judge_headers: Mapping[str, str]
    judge_headers_env: Mapping[str, str]
    judge_labels: str | Path | None
    output_dir: str | Path
    data_dir: str | Path
    scrape_prometheus: bool
    prometheus_url: str | None


ModelArgument = str | Mapping[str, Any]
"""Type: the name of a model, or a dictionary with the fields of `config.ModelEntry`."""


def endpoint_fields_of_models(model: ModelArgument | Sequence[ModelArgument]) -> dict[str, Any]:
    """Return one or several models as fields of `config.EndpointSettings`.

    Raises:
        UserError: If the value is neither a model nor a list of models.
    """
    if isinstance(model, str):
        return {"model": model}
    if not isinstance(model, Mapping | Sequence):
        raise UserError(f"A model is a name, a dictionary or a list of them, not {type(model).__name__}.")
    return {"models": (model,) if isinstance(model, Mapping) else tuple(model)}


def make_settings(kind: type[Kind], arguments: Mapping[str, Any], api_key_env: str | None) -> Kind:
    """Return an instance of the settings class `kind`, made from keyword arguments.

    `api_key_env`: name of the environment variable that holds the API key; None if the key is not in such a variable.

    Raises:
        UserError: If a value is invalid (the message names the argument), or the variable is not set.
    """
    from pydantic import ValidationError

    from benchwright.config import error_message

    given = dict(arguments)
    if api_key_env is not None:
        if given.get("api_key") is not None:
            raise UserError("Give either api_key or api_key_env.")
        given["api_key"] = read_key(api_key_env, "api_key_env")
    try:
        return kind(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = "".join(map(str, first["loc"][:1]))
        if first["type"] == "extra_forbidden":
            raise UserError(f"There is no argument {name!r} here.") from None
        raise UserError(f"{name}: {error_message(first)}." if name else f"{error_message(first)}.") from None
