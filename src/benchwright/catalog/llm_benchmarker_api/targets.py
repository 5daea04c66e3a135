"""Converts the documented configuration to targets (models with settings) and clients of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.catalog.llm_benchmarker_api.config import (
    DEFAULT_MAX_TOKENS,
    BenchmarkConfig,
    RunConfig,
    VLLMConfig,
)
from benchwright.endpoint.access import Access
from benchwright.endpoint.providers import ModelClient, connect_client, find_target
from benchwright.endpoint.timeouts import Timeouts
from benchwright.records import Target

if TYPE_CHECKING:
    from benchwright.catalog.benchmark import About


def find_documented_target(config: BenchmarkConfig, about: About | None = None) -> Target:
    """Return the model with its settings. Settings that the configuration lacks are those of the protocol.

    Raises:
        UserError: If the base URL is not an address, or the model has no name.
    """
    return find_target(config.vllm.model, config.vllm.base_url, "primary", _settings(config.run, about))


def create_client(
    target: Target, access: Access, config: BenchmarkConfig, *, stream: bool | None = None
) -> ModelClient:
    """Create a client for a target, with the configuration's limits."""
    patience = config.vllm.timeout
    return connect_client(
        target,
        access,
        connections=config.run.concurrency,
        stream=config.run.streaming if stream is None else stream,
        limits=Timeouts(read_seconds=patience, stall_seconds=min(patience, Timeouts().stall_seconds)),
    )


def config_of(target: Target) -> BenchmarkConfig:
    """Return the documented configuration that corresponds to an engine target, without credentials."""
    given = {name: target.settings[name] for name in ("temperature", "max_tokens") if name in target.settings}
    return BenchmarkConfig(
        vllm=VLLMConfig(base_url=target.base_url, model=target.model),
        run=RunConfig(seed=target.settings.get("seed"), **given),
    )


def request_fields(own: dict[str, Any], target: Target) -> dict[str, Any]:
    """Return the body fields of a benchmark's request.

    The benchmark's `own` fields take precedence over the fields of the run. If both limit the number of
    tokens, the smaller limit applies. There is one exception: the default token limit of a run is ignored.
    """
    limit = target.settings.get("max_tokens")
    most = own.get("max_tokens")
    if most is None or limit is None or limit == DEFAULT_MAX_TOKENS:
        return own
    return {**own, "max_tokens": min(most, limit)}


def _settings(run: RunConfig, about: About | None) -> dict[str, Any]:
    temperature, max_tokens = run.temperature, run.max_tokens
    params = {} if about is None else about.params
    if about is not None:
        given = run.model_fields_set
        if "temperature" not in given:
            temperature = about.temperature
        if about.max_tokens is not None and about.smaller_max_tokens:
            max_tokens = min(max_tokens, about.max_tokens)
        elif about.max_tokens is not None and "max_tokens" not in given:
            max_tokens = about.max_tokens
    return {"temperature": temperature, "max_tokens": max_tokens, "seed": run.seed, **params}
