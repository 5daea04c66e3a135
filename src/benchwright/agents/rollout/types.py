"""The data types of an agent that osmosis_ai documents: requests, tool schemas, completions and metrics."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, field_validator

from benchwright.records import Message


class OpenAIFunctionPropertySchema(BaseModel):
    """One parameter of a function: its JSON Schema type, its description, and its allowed values."""

    type: str
    description: str | None = None
    enum: list[str] | None = None


class OpenAIFunctionParametersSchema(BaseModel):
    """The parameters of a function. `type` is always "object"."""

    type: str
    properties: dict[str, OpenAIFunctionPropertySchema]
    required: list[str]


def _no_parameters() -> OpenAIFunctionParametersSchema:
    return OpenAIFunctionParametersSchema(type="object", properties={}, required=[])


class OpenAIFunctionSchema(BaseModel):
    """A function that the model may call."""

    name: str
    description: str
    parameters: OpenAIFunctionParametersSchema = Field(default_factory=_no_parameters)
    strict: bool = False


class OpenAIFunctionToolSchema(BaseModel):
    """A tool that the model may call. `type` is always "function"."""

    type: str
    function: OpenAIFunctionSchema


DEFAULT_MAX_METADATA_SIZE_BYTES = 1024 * 1024
"""Default maximum size of a request's metadata as JSON, in bytes."""

_max_metadata_size = DEFAULT_MAX_METADATA_SIZE_BYTES


def get_max_metadata_size_bytes() -> int:
    """Return the maximum size of a request's metadata as JSON, in bytes."""
    return _max_metadata_size


def set_max_metadata_size_bytes(size_bytes: int) -> None:
    """Set the limit of `get_max_metadata_size_bytes` for this process.

    Raises:
        ValueError: If the size is not positive.
    """
    global _max_metadata_size
    if size_bytes <= 0:
        raise ValueError("max_metadata_size_bytes must be positive")
    _max_metadata_size = size_bytes


class RolloutMetrics(BaseModel):
    """The cost of a rollout: times in milliseconds, numbers of calls, and numbers of tokens.

    `max_context_tokens`: the largest sum of prompt and response tokens of a single call.
    """

    total_latency_ms: float = 0.0
    llm_latency_ms: float = 0.0
    tool_latency_ms: float = 0.0
    num_llm_calls: int = 0
    num_tool_calls: int = 0
    prompt_tokens: int = 0
    response_tokens: int = 0
    max_context_tokens: int = 0


class RolloutRequest(BaseModel):
    """A request to an agent.

    `messages`: the start of the conversation. `completion_params`: body fields that the agent should pass on
    with every call. `max_turns` and `max_tokens_total` are hints, which the agent itself should follow.
    """

    rollout_id: str = Field(min_length=1, max_length=256)
    server_url: str
    messages: list[Message]
    completion_params: dict[str, Any]
    tool_server_url: str | None = None
    max_turns: int = 10
    max_tokens_total: int = 8192
    metadata: dict[str, Any] = Field(default_factory=dict)
    api_key: str | None = None
    idempotency_key: str | None = None

    @field_validator("rollout_id")
    @classmethod
    def _not_blank(cls, rollout_id: str) -> str:
        if not rollout_id.strip():
            raise ValueError("rollout_id must not be blank")
        return rollout_id

    @field_validator("server_url")
    @classmethod
    def _with_host(cls, server_url: str) -> str:
        address = urlsplit(server_url)
        if address.scheme not in ("http", "https") or not address.netloc:
            raise ValueError("server_url must be an http or https address with a host")
        return server_url

    @field_validator("metadata")
    @classmethod
    def _small_json(cls, metadata: dict[str, Any]) -> dict[str, Any]:
        try:
            size = len(json.dumps(metadata).encode())
        except (TypeError, ValueError) as error:
            raise ValueError(f"metadata must be JSON: {error}") from error
        if size > _max_metadata_size:
            raise ValueError(f"metadata takes {size} bytes as JSON, {_max_metadata_size} are allowed")
        return metadata


@dataclass(frozen=True)
class CompletionsResult:
    """The model's response to one request.

    `message`: the assistant message, ready to be appended to the conversation. `usage`: a mapping with
    prompt_tokens, completion_tokens and total_tokens. `token_ids`, `logprobs`: empty unless the server sends
    them.
    """

    message: Message
    token_ids: list[int]
    logprobs: list[float]
    usage: dict[str, int]
    finish_reason: str

    @property
    def has_tool_calls(self) -> bool:
        """True if the model calls tools."""
        return bool(self.message.get("tool_calls"))

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The tool calls in the OpenAI format, with arguments as JSON strings."""
        return self.message.get("tool_calls") or []

    @property
    def content(self) -> str | None:
        """The text of the response; None if the response has no text."""
        return self.message.get("content")


class LLMClientProtocol(Protocol):
    """Interface of `RolloutContext.llm`, the client of the model."""

    async def chat_completions(self, messages: list[Message], **kwargs: Any) -> CompletionsResult:
        """Send a request to the model, and return the model's response. `kwargs`: fields of the request's body."""
        ...

    def get_metrics(self) -> RolloutMetrics:
        """Return the number of calls so far, with the times and tokens of these calls."""
        ...
