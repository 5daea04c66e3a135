"""What an agent is asked, calls and gives back: requests, tool schemas, completions and metrics, as documented."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, field_validator

from benchwright.records import Message


class OpenAIFunctionPropertySchema(BaseModel):
    """One parameter of a function: its JSON Schema type, what it means, and the values it may have."""

    type: str
    description: str | None = None
    enum: list[str] | None = None


class OpenAIFunctionParametersSchema(BaseModel):
    """The parameters of a function; `type` is always "object"."""

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
    """A tool; `type` is always "function"."""

    type: str
    function: OpenAIFunctionSchema


DEFAULT_MAX_METADATA_SIZE_BYTES = 1024 * 1024
"""How long a request's metadata may be as JSON, in bytes, unless set otherwise."""

_max_metadata_size = DEFAULT_MAX_METADATA_SIZE_BYTES


def get_max_metadata_size_bytes() -> int:
    """The largest metadata that a request may carry, in bytes of JSON."""
    return _max_metadata_size


def set_max_metadata_size_bytes(size_bytes: int) -> None:
    """Changes the limit of `get_max_metadata_size_bytes` for this process.

    Raises:
        ValueError: the size is not positive.
    """
    global _max_metadata_size
    if size_bytes <= 0:
        raise ValueError("max_metadata_size_bytes must be positive")
    _max_metadata_size = size_bytes


class RolloutMetrics(BaseModel):
    """What a rollout cost: times in milliseconds, numbers of calls, tokens.

    `max_context_tokens` is the longest prompt together with its answer.
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
    """What an agent is asked to do.

    `messages` is where the conversation starts, `completion_params` are body fields that the agent should
    pass on with every call; `max_turns` and `max_tokens_total` are advice that the agent itself follows.
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
    """The answer to one call.

    `message` is the assistant message, ready to be appended to the conversation; `usage` holds
    prompt_tokens, completion_tokens and total_tokens; `token_ids` and `logprobs` are there where the server
    sends them.
    """

    message: Message
    token_ids: list[int]
    logprobs: list[float]
    usage: dict[str, int]
    finish_reason: str

    @property
    def has_tool_calls(self) -> bool:
        """Whether the model wants tools to be called."""
        return bool(self.message.get("tool_calls"))

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The tool calls in the OpenAI format, their arguments a JSON string."""
        return self.message.get("tool_calls") or []

    @property
    def content(self) -> str | None:
        """The text of the answer; None where there is none."""
        return self.message.get("content")


class LLMClientProtocol(Protocol):
    """What `RolloutContext.llm` can do."""

    async def chat_completions(self, messages: list[Message], **kwargs: Any) -> CompletionsResult:
        """Asks the model; `kwargs` are body fields of the request."""
        ...

    def get_metrics(self) -> RolloutMetrics:
        """The calls made so far, their times and tokens."""
        ...
