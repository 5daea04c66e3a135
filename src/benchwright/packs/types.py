"""The protocol's data: what a pack is given and what it gives back, in Bench Protocol v1 and its later additions.

Python names are snake_case, JSON names camelCase. What comes from a pack is read leniently (see
`bridge.reading`) and keeps the pack's own JSON object in `raw`, unknown keys included; `raw` is what is stored,
shown and handed back to the pack. What goes to a pack is written by `to_json`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from benchwright.records import Record

GenerationRequest = dict[str, Any]
"""Sampling settings by their wire names (temperature, top_p, ...). A key that is absent must not be sent to the
model; unknown keys (`maxTokens`, `stream`) go through as they are."""

SCORE, PASSED = "score", "passed"
"""The names of a cell's values: the pack's own score in its own scale, and 1 for a pass, 0 for anything else."""

ResultStatus = Literal["pass", "partial", "fail"]
VerifierMode = Literal["docker", "cloud", "custom_url"]
VerifierStatus = Literal["running", "stopped", "failed", "missing_dependency", "dependency_not_running"]
AuthMode = Literal["none", "bearer"]


class Wire(Record, frozen=True, rename="camel"):
    """Base of the structs below: optional fields at their default are absent from the JSON."""


# What a pack gives


class DetailCard(Wire, frozen=True):
    """A card that describes a scenario, such as "What this tests" or "Success case"."""

    title: str
    content: str


class ScenarioMeta(Wire, frozen=True):
    """A scenario as the pack lists it; `raw` goes back to the pack when the scenario runs."""

    id: str
    title: str
    category: str | None = None
    tags: list[str] = []
    description: str | None = None
    prompt_text: str | None = None
    detail_cards: list[DetailCard] = []
    raw: dict[str, Any] = {}


class ToolCall(Wire, frozen=True):
    """A tool call that the model made; `raw_arguments` is what it wrote, whether or not that is JSON."""

    id: str
    name: str
    raw_arguments: str
    turn: int | None = None


class ToolResult(Wire, frozen=True):
    """What a tool call gave back, as the pack shows it."""

    call_id: str
    name: str
    result: Any


class ModelOutput(Wire, frozen=True):
    """What the model said and did."""

    final_answer: str | None = None
    assistant_messages: list[str] = []
    tool_calls: list[ToolCall] = []
    tool_results: list[ToolResult] = []


class VerifierResult(Wire, frozen=True):
    """What a verifier found; `status` is free text."""

    status: str = ""
    summary: str = ""
    details: dict[str, Any] | None = None


class ArtifactRef(Wire, frozen=True):
    """Something that the scenario left behind; `path` as the pack wrote it, never to be trusted."""

    kind: str
    label: str
    path: str | None = None
    content_type: str | None = None


class Timings(Wire, frozen=True):
    """ISO 8601 times, and milliseconds."""

    started_at: str | None = None
    completed_at: str | None = None
    duration_ms: float | None = None


class ScenarioResult(Wire, frozen=True):
    """The result of one scenario. The scale of `score` and `points` is the pack's own."""

    scenario_id: str
    status: ResultStatus
    error_type: str | None = None
    retryable: bool | None = None
    score: float | None = None
    points: float | None = None
    summary: str = ""
    note: str | None = None
    raw_log: str = ""
    output: ModelOutput | None = None
    verifier: VerifierResult | None = None
    artifacts: list[ArtifactRef] = []
    timings: Timings | None = None
    raw: dict[str, Any] = {}


class CategoryScore(Wire, frozen=True):
    """A category's score, in the pack's own scale and `unit`."""

    id: str
    label: str
    score: float | None
    weight: float | None = None
    unit: str | None = None


class BenchmarkScore(Wire, frozen=True):
    """A model's score as the pack's `scoreModelResults` gives it."""

    total_score: float
    categories: list[CategoryScore] = []
    summary: str | None = None
    total_unit: str | None = None
    raw: dict[str, Any] = {}


# What a pack is given


class PackPaths(Wire, frozen=True):
    """`HostContext.benchPack`: the pack and its directories; `runs_dir` is this run's own."""

    id: str
    version: str
    install_dir: str
    data_dir: str
    cache_dir: str
    runs_dir: str


class ProviderConfig(Wire, frozen=True):
    """A provider. `kind`: openrouter, huggingface, ollama, llamacpp, mlx, lmstudio, pico or openai_compatible."""

    id: str
    kind: str
    name: str
    enabled: bool
    base_url: str
    auth_mode: AuthMode
    metadata: dict[str, str | float | bool] | None = None


class RegisteredModel(Wire, frozen=True):
    """A model; its id is by convention `<provider>:<model>`."""

    id: str
    provider: str
    model: str
    label: str
    enabled: bool
    group: str


class SecretResolution(Wire, frozen=True):
    """A provider's secret: `key_name` is the environment variable, or "api_key"."""

    provider_id: str
    key_name: str
    source: Literal["config", "env", "none"]
    value: str | None = None


class VerifierEndpoint(Wire, frozen=True, tag_field="transport", tag="http"):
    """A verifier as it was found; `url` has no trailing slash and is there where it runs."""

    id: str
    mode: VerifierMode
    required: bool
    status: VerifierStatus
    url: str | None = None
    port: int | None = None
    details: str | None = None
    docker_image_present: bool | None = None


class InferenceEndpoint(Wire, frozen=True, tag_field="transport", tag="openai_compatible"):
    """An address under which a model can be asked, by the pack or (`docker_base_url`) from a container.

    Where `status` is "running", `base_url` (ending in /v1/), `auth_mode` and `exposed_model` are there.
    """

    model_id: str
    provider_id: str
    status: Literal["running", "failed"]
    base_url: str | None = None
    docker_base_url: str | None = None
    auth_mode: AuthMode | None = None
    api_key: str | None = None
    exposed_model: str | None = None
    details: str | None = None


class HostContext(Wire, frozen=True, tag_field="protocolVersion", tag=1):
    """What `prepare` is given; the bridge adds `logger` and `sidecars`, the old name of `verifiers`."""

    bench_pack: PackPaths
    providers: list[ProviderConfig]
    models: list[RegisteredModel]
    secrets: list[SecretResolution]
    verifiers: list[VerifierEndpoint]
    inference_endpoints: list[InferenceEndpoint]


class ScenarioRunInput(Wire, frozen=True):
    """What `runScenario` is given; the bridge adds `abortSignal`. `scenario` is `ScenarioMeta.raw`."""

    run_id: str
    bench_pack_id: str
    scenario: dict[str, Any]
    model: RegisteredModel
    generation: GenerationRequest


def to_json(value: Wire) -> dict[str, Any]:
    """The JSON object of what a pack is given."""
    encoded: dict[str, Any] = msgspec.to_builtins(value)
    return encoded
