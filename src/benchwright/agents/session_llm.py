"""An agent's client of the model (`RolloutContext.llm`). It sends requests through the engine's session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from benchwright.agents.rollout.types import CompletionsResult, OpenAIFunctionToolSchema, RolloutMetrics
from benchwright.endpoint.reply import Reply
from benchwright.errors import TrialError
from benchwright.records import Message


class ChatClient(Protocol):
    """Object that sends chat requests: a session of the engine, or a client outside of any run."""

    async def chat(self, messages: Sequence[Message], **params: Any) -> Reply:
        """Send one request, and return the response. `params`: fields of the request's body."""
        ...


class SessionLLM:
    """Client of chat requests.

    `reply`: the last response. `failure`: why the last call had no response; None if it had one.
    """

    def __init__(self, session: ChatClient) -> None:
        self._session = session
        self._tools: list[dict[str, Any]] = []
        self.reply: Reply | None = None
        self.failure: TrialError | None = None
        self.reset_metrics()

    def reset_metrics(self) -> None:
        """Reset all counts to 0."""
        self._calls = 0
        self._latency_ns = 0
        self._prompt_tokens = 0
        self._response_tokens = 0
        self._longest_context = 0

    def set_tools(self, tools: Sequence[OpenAIFunctionToolSchema]) -> None:
        """Offer these tools to the model with every call that does not set its own tools."""
        self._tools = [tool.model_dump(exclude_none=True) for tool in tools]

    def clear_tools(self) -> None:
        """Stop offering tools."""
        self._tools = []

    async def chat_completions(self, messages: list[Message], **kwargs: Any) -> CompletionsResult:
        """Send one request, and return the response. `kwargs`: fields of the request's body.

        Raises:
            ProviderError: If the endpoint failed, after retries.
            LimitReached: If the trial's turns, tokens or seconds are used up.
        """
        if self._tools and "tools" not in kwargs:
            kwargs["tools"] = self._tools
        try:
            reply = await self._session.chat(messages, **kwargs)
        except TrialError as error:
            self.failure = error
            raise
        self.failure = None
        self.reply = reply
        return self._result(reply)

    def _result(self, reply: Reply) -> CompletionsResult:
        prompt = reply.usage.prompt_tokens or 0
        completion = reply.usage.completion_tokens or 0
        self._calls += 1
        self._latency_ns += reply.record.total
        self._prompt_tokens += prompt
        self._response_tokens += completion
        self._longest_context = max(self._longest_context, prompt + completion)
        return CompletionsResult(
            message={name: value for name, value in reply.message.items() if value is not None},
            token_ids=[],
            logprobs=_token_logprobs(reply.logprobs),
            usage={
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            },
            finish_reason=reply.finish_reason or "stop",
        )

    def get_metrics(self) -> RolloutMetrics:
        """Return the metrics since the last reset. Tokens that the server did not report count as 0."""
        return RolloutMetrics(
            llm_latency_ms=self._latency_ns / 1e6,
            num_llm_calls=self._calls,
            prompt_tokens=self._prompt_tokens,
            response_tokens=self._response_tokens,
            max_context_tokens=self._longest_context,
        )


def _token_logprobs(logprobs: Any) -> list[float]:
    """Return the log-probabilities of a response's tokens, from the `logprobs` of a chat completion."""
    entries = logprobs.get("content") if isinstance(logprobs, dict) else None
    return [entry["logprob"] for entry in entries or []]
