"""One answer of a model as an agent sees it, and the client that gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from benchwright.agents.rollout.types import RolloutMetrics
from benchwright.records import Message


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
