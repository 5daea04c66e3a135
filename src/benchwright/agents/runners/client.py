"""`ExternalLLMClient`: the documented client of a model, alone or inside a run of the engine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from msgspec.structs import replace

from benchwright.agents.rollout.types import CompletionsResult, OpenAIFunctionToolSchema, RolloutMetrics
from benchwright.agents.runners.errors import SystemicProviderError, documented_error
from benchwright.agents.session_llm import SessionLLM
from benchwright.endpoint.access import NO_ACCESS, Access
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.providers import ModelClient, connect, find_access, find_target
from benchwright.endpoint.reply import Reply
from benchwright.engine.protocols import Session
from benchwright.errors import ProviderError, UserError
from benchwright.records import Message

logger = logging.getLogger(__name__)


class ExternalLLMClient:
    """Speaks to one model, and keeps the tools and the metrics of one rollout at a time.

    `api_base` is the address of an OpenAI-compatible endpoint, where the model is asked by the name given;
    without it OpenAI's models are asked at OPENAI_BASE_URL or OpenAI, others (`provider/name`) through
    LiteLLM. No key anywhere means a server that wants none. `display_name` is the name as given, `model` the
    same with its provider in front.

    Raises:
        UserError: `api_base` is not an address.
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
        self._access = replace(NO_ACCESS, key=api_key)
        self.api_base = api_base
        self.failure: ProviderError | None = None
        """Why the last call had no answer; None after one that had."""
        self._target = find_target(model, api_base)
        self._connection: ModelClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._llm = SessionLLM(_Alone(self.connection))

    @classmethod
    def with_access(cls, model: str, api_base: str | None, access: Access) -> Self:
        """Return a client that sends the key and the headers of `access`, and uses its files for TLS."""
        client = cls(model, access.key, api_base)
        client._access = access
        return client

    async def chat_completions(self, messages: list[Message], **kwargs: Any) -> CompletionsResult:
        """Asks once; `kwargs` are body fields of the request, and go before the client's own.

        Raises:
            SystemicProviderError: every further request would fail alike.
            ProviderError: no usable answer came.
        """
        try:
            result = await self._llm.chat_completions(messages, **kwargs)
        except ProviderError as error:
            self.failure = documented_error(error)
            raise self.failure from error
        self.failure = None
        return result

    async def preflight_check(self) -> None:
        """Asks for a single token, to see whether the model can be asked at all.

        Raises:
            SystemicProviderError: it cannot. Whatever else goes wrong may not go wrong again, and is ignored.
        """
        body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}
        try:
            await self.connection().ask("/chat/completions", body)
        except ProviderError as error:
            if error.systemic:
                raise documented_error(error) from error

    def set_tools(self, tools: Sequence[OpenAIFunctionToolSchema]) -> None:
        """Offers these tools to the model with every call that does not bring its own."""
        self._llm.set_tools(tools)

    def clear_tools(self) -> None:
        """Offers no tools any more."""
        self._llm.clear_tools()

    def reset_metrics(self) -> None:
        """Starts counting from 0."""
        self.failure = None
        self._llm.reset_metrics()

    def get_metrics(self) -> RolloutMetrics:
        """The calls since the last reset; tokens that the server did not count are 0."""
        return self._llm.get_metrics()

    def clone(self) -> Self:
        """Another client of the same model, with tools, metrics and connections of its own."""
        return self.with_access(self.display_name, self.api_base, self._access)

    def connection(self) -> ModelClient:
        """What carries the calls, opened again in another event loop.

        Raises:
            SystemicProviderError: there is no key for OpenAI, or no HTTP header can carry it.
        """
        loop = asyncio.get_running_loop()
        if self._connection is None or self._loop is not loop:
            try:
                access = find_access(self._access, self._target, logger.warning)
            except UserError as error:
                raise SystemicProviderError(str(error)) from None
            retry = RetryPolicy(retries=0, longest_wait=0.0)
            self._connection = connect(self._target, access, stream=False, retry=retry)
            self._loop = loop
        return self._connection

    @contextmanager
    def within(self, session: Session, slot: str) -> Iterator[None]:
        """While entered, calls are made through a session of the engine, which knows this client as `slot`."""
        alone = self._llm
        self._llm = SessionLLM(_Within(session, slot))
        try:
            yield
        finally:
            self._llm = alone

    async def close(self) -> None:
        """Closes the connections; a later call opens new ones."""
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
    """The name of a model with its provider in front.

    Whatever is served at a given address counts as `openai/…`, and so does a name without any provider.
    """
    qualified = model.startswith("openai/") if api_base else "/" in model
    return model if qualified else f"openai/{model}"


def systemic_failure(client: object, error: BaseException | None) -> SystemicProviderError | None:
    """The systemic failure behind a rollout that did not complete, also where the agent hid it."""
    if isinstance(error, SystemicProviderError):
        return error
    failure = getattr(client, "failure", None)
    return failure if isinstance(failure, SystemicProviderError) else None
