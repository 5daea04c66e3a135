"""Data types of Bench Protocol v1 and its later additions: inputs and outputs of packs.

Names are snake_case in Python, and camelCase in JSON. Malformed optional data from a pack is tolerated (see
`bridge.result_parsing`). The original JSON object, including unknown keys, is kept in `raw`. `raw` is stored,
shown and sent back to the pack. Data for a pack is encoded by `to_json`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from benchwright.records import Record

GenerationRequest = dict[str, Any]
"""Sampling settings: a mapping from the name in requests (temperature, top_p, ...) to the value.

A setting that is absent must not be sent to the model. Unknown keys (`maxTokens`, `stream`) are passed on
unchanged.
"""

SCORE, PASSED = "score", "passed"
"""Names of the two values of a cell. `SCORE`: the pack's score on its own scale. `PASSED`: 1 for a pass, otherwise 0.
"""

ResultStatus = Literal["pass", "partial", "fail"]
VerifierMode = Literal["docker", "cloud", "custom_url"]
VerifierStatus = Literal["running", "stopped", "failed", "missing_dependency", "dependency_not_running"]
AuthMode = Literal["none", "bearer"]


class ProtocolStruct(Record, frozen=True, rename="camel"):
    """Base class of this module's structs. An optional field that has its default value is left out of the JSON."""


# Data from a pack


class DetailCard(ProtocolStruct, frozen=True):
    """A card that describes a scenario, such as "What this tests" or "Success case"."""

    title: str
    content: str


class ScenarioMeta(ProtocolStruct, frozen=True):
    """A scenario as the pack listed it. `raw`: the JSON object that is sent back to the pack when the scenario runs."""

    id: str
    title: str
    category: str | None = None
    tags: list[str] = []
    description: str | None = None
    prompt_text: str | None = None
    detail_cards: list[DetailCard] = []
    raw: dict[str, Any] = {}


class ToolCall(ProtocolStruct, frozen=True):
    """A tool call by the model. `raw_arguments`: the text that the model wrote, which may not be JSON."""

    id: str
    name: str
    raw_arguments: str
    turn: int | None = None


class ToolResult(ProtocolStruct, frozen=True):
    """The result of a tool call, as reported by the pack."""

    call_id: str
    name: str
    result: Any


class ModelOutput(ProtocolStruct, frozen=True):
    """The output of the model: its answer, messages and tool calls."""

    final_answer: str | None = None
    assistant_messages: list[str] = []
    tool_calls: list[ToolCall] = []
    tool_results: list[ToolResult] = []


class VerifierResult(ProtocolStruct, frozen=True):
    """The result of a verifier. `status`: free text."""

    status: str = ""
    summary: str = ""
    details: dict[str, Any] | None = None


class ArtifactRef(ProtocolStruct, frozen=True):
    """An artifact of a scenario. `path`: written by the pack, so it must never be trusted."""

    kind: str
    label: str
    path: str | None = None
    content_type: str | None = None


class Timings(ProtocolStruct, frozen=True):
    """Start and end as ISO 8601 times, and the duration in milliseconds."""

    started_at: str | None = None
    completed_at: str | None = None
    duration_ms: float | None = None


class ScenarioResult(ProtocolStruct, frozen=True):
    """The result of one scenario. `score` and `points` are on the pack's own scale."""

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


class CategoryScore(ProtocolStruct, frozen=True):
    """The score of one category, on the pack's own scale and in its `unit`."""

    id: str
    label: str
    score: float | None
    weight: float | None = None
    unit: str | None = None


class BenchmarkScore(ProtocolStruct, frozen=True):
    """A model's score, as the pack's `scoreModelResults` returned it."""

    total_score: float
    categories: list[CategoryScore] = []
    summary: str | None = None
    total_unit: str | None = None
    raw: dict[str, Any] = {}


# Data for a pack


class PackPaths(ProtocolStruct, frozen=True):
    """The value of `HostContext.benchPack`: the pack and its directories. `runs_dir`: the directory of this run."""

    id: str
    version: str
    install_dir: str
    data_dir: str
    cache_dir: str
    runs_dir: str


class ProviderConfig(ProtocolStruct, frozen=True):
    """A provider. `kind`: openrouter, huggingface, ollama, llamacpp, mlx, lmstudio, pico or openai_compatible."""

    id: str
    kind: str
    name: str
    enabled: bool
    base_url: str
    auth_mode: AuthMode
    metadata: dict[str, str | float | bool] | None = None


class RegisteredModel(ProtocolStruct, frozen=True):
    """A model that the user configured. By convention, the id of a model is `<provider>:<model>`."""

    id: str
    provider: str
    model: str
    label: str
    enabled: bool
    group: str


class SecretResolution(ProtocolStruct, frozen=True):
    """A provider's API key. `key_name`: the environment variable that contains the key, or "api_key"."""

    provider_id: str
    key_name: str
    source: Literal["config", "env", "none"]
    value: str | None = None


class VerifierEndpoint(ProtocolStruct, frozen=True, tag_field="transport", tag="http"):
    """The state and address of a verifier.

    `url`: the address without a trailing slash, set if the verifier is running.
    """

    id: str
    mode: VerifierMode
    required: bool
    status: VerifierStatus
    url: str | None = None
    port: int | None = None
    details: str | None = None
    docker_image_present: bool | None = None


class InferenceEndpoint(ProtocolStruct, frozen=True, tag_field="transport", tag="openai_compatible"):
    """An address to which the pack, or a container (`docker_base_url`), can send requests to a model.

    If `status` is "running", then `base_url` (ending in /v1/), `auth_mode` and `exposed_model` are set.
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


class HostContext(ProtocolStruct, frozen=True, tag_field="protocolVersion", tag=1):
    """The argument of `prepare`.

    The bridge adds `logger`, and also `sidecars`, which is the old name of `verifiers`.
    """

    bench_pack: PackPaths
    providers: list[ProviderConfig]
    models: list[RegisteredModel]
    secrets: list[SecretResolution]
    verifiers: list[VerifierEndpoint]
    inference_endpoints: list[InferenceEndpoint]


class ScenarioRunInput(ProtocolStruct, frozen=True):
    """The argument of `runScenario`. The bridge adds `abortSignal`. `scenario` is `ScenarioMeta.raw`."""

    run_id: str
    bench_pack_id: str
    scenario: dict[str, Any]
    model: RegisteredModel
    generation: GenerationRequest


def to_json(value: ProtocolStruct) -> dict[str, Any]:
    """Encode data for a pack as a JSON object."""
    encoded: dict[str, Any] = msgspec.to_builtins(value)
    return encoded
