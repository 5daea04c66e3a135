"""`ExternalLLMClient`: the model's client that osmosis_ai documents, usable alone or within a run of the engine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from msgspec.structs import replace

from benchwright.agents.rollout.types import CompletionsResult, OpenAIFunctionToolSchema, RolloutMetrics
from benchwright.agents.runners.errors import SystemicProviderError, to_documented_error
from benchwright.agents.session_llm import SessionLLM
from benchwright.endpoint.access import ANONYMOUS_ACCESS, Access
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.providers import ModelClient, connect_client, find_access, find_target
from benchwright.endpoint.reply import Reply
from benchwright.engine.protocols import Session
from benchwright.errors import ProviderError, UserError
from benchwright.records import Message

logger = logging.getLogger(__name__)


class ExternalLLMClient:
    """A client of one model. It holds the tools and the metrics of one rollout at a time.

    `api_base`: the address of an OpenAI-compatible endpoint, to which the model name is sent as given.
    Without `api_base`, OpenAI's models are used at OPENAI_BASE_URL or at OpenAI, and models of other
    providers (`provider/name`) through LiteLLM. If no key is found, the server is assumed to need none.
    `display_name`: the model's name as given. `model`: the model's name with the provider in front.

    Raises:
        UserError: If `api_base` is not an address.
    """

    def __init__(
        self,
        model: str = "gpt-5-mini",
        api_key: str | None = None,
        api_base: str | None = None,
    ) -> None:
        self.display_name = model
        self.model = _qualified_name(model, api_base)
        self.api_key = api_key
        self._access = replace(ANONYMOUS_ACCESS, api_key=api_key)
        self.api_base = api_base
        self.failure: ProviderError | None = None
        """The failure of the last call; None if the call succeeded."""
        self._target = find_target(model, api_base)
        self._connection: ModelClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._llm = SessionLLM(_Alone(self.get_connection))

    @classmethod
    def with_access(cls, model: str, api_base: str | None, access: Access) -> Self:
        """Return a client that sends the key and headers of `access`, and uses the TLS files of `access`."""
        client = cls(model, access.api_key, api_base)
        client._access = access
        return client

    async def chat_completions(self, messages: list[Message], **kwargs: Any) -> CompletionsResult:
        """Send one request and return the response.

        `kwargs`: fields of the request's body. They override the client's own fields.

        Raises:
            SystemicProviderError: If every further request would fail in the same way.
            ProviderError: If there is no usable response.
        """
        try:
            result = await self._llm.chat_completions(messages, **kwargs)
        except ProviderError as error:
            self.failure = to_documented_error(error)
            raise self.failure from error
        self.failure = None
        return result

    async def preflight_check(self) -> None:
        """Send a request for a single token, to check that the model can be used at all.

        Raises:
            SystemicProviderError: If the model cannot be used. Failures that may be temporary are ignored.
        """
        body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}
        try:
            await self.get_connection().ask("/chat/completions", body)
        except ProviderError as error:
            if error.systemic:
                raise to_documented_error(error) from error

    def set_tools(self, tools: Sequence[OpenAIFunctionToolSchema]) -> None:
        """Offer these tools to the model with every call that does not set its own tools."""
        self._llm.set_tools(tools)

    def clear_tools(self) -> None:
        """Stop offering tools."""
        self._llm.clear_tools()

    def reset_metrics(self) -> None:
        """Reset all counts to 0."""
        self.failure = None
        self._llm.reset_metrics()

    def get_metrics(self) -> RolloutMetrics:
        """Return the metrics since the last reset. Tokens that the server did not report count as 0."""
        return self._llm.get_metrics()

    def clone(self) -> Self:
        """Return another client of the same model, with its own tools, metrics and connections."""
        return self.with_access(self.display_name, self.api_base, self._access)

    def get_connection(self) -> ModelClient:
        """Return the connection that sends requests. In another event loop than before, open a new connection.

        Raises:
            SystemicProviderError: If there is no key for OpenAI, or if the key cannot be sent in an HTTP
                header.
        """
        loop = asyncio.get_running_loop()
        if self._connection is None or self._loop is not loop:
            try:
                access = find_access(self._access, self._target, logger.warning)
            except UserError as error:
                raise SystemicProviderError(str(error)) from None
            retry = RetryPolicy(retries=0, max_rate_limit_wait=0.0)
            self._connection = connect_client(self._target, access, stream=False, retry=retry)
            self._loop = loop
        return self._connection

    @contextmanager
    def use_session(self, session: Session, slot: str) -> Iterator[None]:
        """Send requests through an engine session until exit.

        `slot`: the id of this client's model in the session.
        """
        alone = self._llm
        self._llm = SessionLLM(_Within(session, slot))
        try:
            yield
        finally:
            self._llm = alone

    async def close(self) -> None:
        """Close the connections. A later call opens new connections."""
        if self._connection is not None and self._loop is asyncio.get_running_loop():
            self._connection.close()
        self._connection = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Alone:
    def __init__(self, connection: Callable[[], ModelClient]) -> None:
        self._connection = connection

    async def chat(self, messages: Sequence[Message], **params: Any) -> Reply:
        return await self._connection().ask("/chat/completions", {**params, "messages": list(messages)})


class _Within:
    def __init__(self, session: Session, slot: str) -> None:
        self._session = session
        self._slot = slot

    async def chat(self, messages: Sequence[Message], **params: Any) -> Reply:
        return await self._session.chat(messages, slot=self._slot, **params)


def _qualified_name(model: str, api_base: str | None) -> str:
    """Return a model's name with its provider in front.

    If `api_base` is given, or if the name has no provider, the name becomes `openai/…`.
    """
    qualified = model.startswith("openai/") if api_base else "/" in model
    return model if qualified else f"openai/{model}"


def find_systemic_failure(client: object, error: BaseException | None) -> SystemicProviderError | None:
    """Return the systemic failure that ended a rollout, even if the agent hid the failure.

    Return None if there was none.

    The failure is taken from the client. If the client has none, it is taken from the error that was raised.
    """
    if isinstance(error, SystemicProviderError):
        return error
    failure = getattr(client, "failure", None)
    return failure if isinstance(failure, SystemicProviderError) else None
