"""`InstrumentedClient`: the documented client of a model. It works alone, or inside a run of the engine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Self

from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig, RunConfig, VLLMConfig
from benchwright.catalog.llm_benchmarker_api.metrics import RequestMetrics
from benchwright.catalog.llm_benchmarker_api.responses import ChatCompletion
from benchwright.catalog.llm_benchmarker_api.targets import create_client, find_documented_target
from benchwright.endpoint.access import Access
from benchwright.endpoint.providers import ModelClient, find_access
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.server_info import list_models
from benchwright.engine.protocols import Session
from benchwright.records import Message, RequestRecord

logger = logging.getLogger(__name__)


class InstrumentedClient:
    """A client that sends requests to one model, and measures how long they take.

    Every request gets the configuration's temperature, token limit and seed, unless the call's keywords
    override them. `metrics`: the measurements of all requests so far, including failed requests. Use the
    client as an async context manager, or call `close`.

    Raises:
        UserError: If the base URL is not a valid address, or the model has no name.
    """

    def __init__(self, config: BenchmarkConfig | VLLMConfig) -> None:
        if isinstance(config, VLLMConfig):
            config = BenchmarkConfig(vllm=config, run=RunConfig())
        self.config = config
        self.metrics: list[RequestMetrics] = []
        self._target = find_documented_target(config)
        self._connections: dict[bool, ModelClient] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def model(self) -> str:
        """The model's name, as configured."""
        return self.config.vllm.model

    async def chat_completion(self, messages: Sequence[Any], **kwargs: Any) -> tuple[str, RequestMetrics]:
        """Send one request. Return the text of the response, and the metrics of the request.

        `messages`: dicts, or messages of earlier responses. `kwargs`: body fields of the request. The
        configuration decides whether the response is streamed.

        Raises:
            ProviderError: If no usable response came.
        """
        if self.config.run.streaming:
            return await self._stream_chat(messages, **kwargs)
        return await self._non_stream_chat(messages, **kwargs)

    async def chat_completion_raw(self, messages: Sequence[Any], **kwargs: Any) -> ChatCompletion:
        """Send one request without streaming. Return the whole response, which includes its `metrics`.

        Inside a run, all requests are sent in the run's way, so that the response may have been streamed and
        reassembled.

        Raises:
            ProviderError: If no usable response came.
        """
        return ChatCompletion.of(await self._ask(messages, kwargs, stream=False))

    async def list_models(self) -> list[str]:
        """Return the names of the models that the endpoint serves.

        Raises:
            ProviderError: If the endpoint cannot be reached, or lists no models.
        """
        return list(await list_models(self._target.base_url, self._access()))

    async def check(self) -> bool:
        """Return True if the endpoint lists the model. The errors are those of `list_models`."""
        return self._target.model in await self.list_models()

    async def close(self) -> None:
        """Close the connections. A later request opens new ones."""
        if self._loop is asyncio.get_running_loop():
            for connection in self._connections.values():
                connection.close()
        self._connections = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def connection(self, *, stream: bool) -> ModelClient:
        """Return the client that sends the requests.

        If the event loop is not that of the last call, open a new client.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._connections = loop, {}
        if stream not in self._connections:
            self._connections[stream] = create_client(
                self._target, self._access(), self.config, stream=stream
            )
        return self._connections[stream]

    async def _stream_chat(self, messages: Sequence[Any], **kwargs: Any) -> tuple[str, RequestMetrics]:
        return _text(await self._ask(messages, kwargs, stream=True))

    async def _non_stream_chat(self, messages: Sequence[Any], **kwargs: Any) -> tuple[str, RequestMetrics]:
        return _text(await self._ask(messages, kwargs, stream=False))

    async def _ask(self, messages: Sequence[Any], fields: Mapping[str, Any], *, stream: bool) -> Reply:
        body = {**fields, "messages": plain_messages(messages)}
        return await self.connection(stream=stream).ask("/chat/completions", body, note=self._note)

    def _note(self, record: RequestRecord) -> None:
        self.metrics.append(RequestMetrics.of(record))

    def _access(self) -> Access:
        return find_access(Access(self.config.vllm.api_key), self._target, logger.warning)


class SessionClient(InstrumentedClient):
    """The client inside a run. It sends every request through the trial's session, which meters and limits requests.

    `replies`: the responses so far. `sent`: the messages of the last request.
    """

    def __init__(self, session: Session, config: BenchmarkConfig) -> None:
        super().__init__(config)
        self.replies: list[Reply] = []
        self.sent: list[Message] = []
        self._session = session

    async def _ask(self, messages: Sequence[Any], fields: Mapping[str, Any], *, stream: bool) -> Reply:
        self.sent = plain_messages(messages)
        reply = await self._session.chat(self.sent, **fields)
        self.replies.append(reply)
        self._note(reply.record)
        return reply


def plain_messages(messages: Sequence[Any]) -> list[Message]:
    """Return the messages as dicts.

    Objects with a `model_dump` method, such as messages of earlier responses, are converted.
    """
    return [message if isinstance(message, dict) else message.model_dump() for message in messages]


def _text(reply: Reply) -> tuple[str, RequestMetrics]:
    return reply.text, RequestMetrics.of(reply.record)
