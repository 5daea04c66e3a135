"""Requests of a client that generate no answer: embeddings, documents such as token counts, and probes for dialects."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

import msgspec

from benchwright.endpoint import failures, server_info
from benchwright.endpoint.access import Access
from benchwright.endpoint.connection import Sink
from benchwright.endpoint.request_heads import RequestHeadCache, find_key_headers
from benchwright.endpoint.server_info import ServerResponse
from benchwright.endpoint.transport import ConnectionPool
from benchwright.errors import ProviderError
from benchwright.records import Target

INVALID_REQUEST_STATUSES = (400, 422)
"""HTTP statuses with which a server refuses a request that lacks required fields."""

PROBE_SECONDS = 30.0
"""Seconds that a server may take to refuse the empty request that probes for a dialect."""

ResultType = TypeVar("ResultType")
_encode = msgspec.json.Encoder().encode


class RetryFunction(Protocol):
    """Callable that calls a function which sends a request. It calls that function again after temporary failures."""

    async def __call__(self, send: Callable[[], Awaitable[ResultType]]) -> ResultType:
        """Return the result of `send`.

        Raises:
            ProviderError: If no usable response came, after all retries that made sense.
        """
        ...


class SideRequests:
    """Sends the requests to one target that generate no answer. They are not metered."""

    def __init__(
        self,
        target: Target,
        pool: ConnectionPool,
        heads: RequestHeadCache,
        access: Access,
        with_retries: RetryFunction,
    ) -> None:
        self._target = target
        self._pool = pool
        self._heads = heads
        self._access = access
        self._with_retries = with_retries
        self._probes: dict[str, asyncio.Task[bool | None]] = {}

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the embedding vectors of texts, in their order.

        Raises:
            ProviderError: If no usable response came, after all retries that made sense.
        """
        body = _encode({"model": self._target.model, "input": list(texts)})

        async def send() -> list[list[float]]:
            response = await self.request("/embeddings", body)
            return server_info.read_embeddings(response, len(texts), *self._names)

        return await self._with_retries(send)

    async def supports_dialect(self, path: str) -> bool | None:
        """Return True if the server itself has the dialect of this path, False if not, None (not cached) if unknown."""
        probe = self._probes.get(path)
        if probe is None:
            probe = self._probes[path] = asyncio.get_running_loop().create_task(self._probe(path))
        try:
            return await asyncio.shield(probe)
        except ProviderError:
            if self._probes.get(path) is probe:
                del self._probes[path]
            return None

    async def _probe(self, path: str) -> bool | None:
        """Return True if the server has this path, and False if not. Return None if it only failed temporarily.

        A server that has the path refuses an empty request as invalid. Temporary failures are retried.

        Raises:
            ProviderError: If the server cannot be reached, or asks for a longer pause than a trial may wait.
        """

        async def send() -> bool:
            response = await self.request(path, b"{}", PROBE_SECONDS)
            if response.status in failures.TRANSIENT_STATUSES:
                answer = (response.status, response.headers, response.body)
                raise failures.error_from_response(*answer, *self._names)
            return response.status in INVALID_REQUEST_STATUSES

        try:
            return await self._with_retries(send)
        except ProviderError as error:
            if error.http_status is None:
                raise
            return None

    async def request(self, path: str, body: bytes, seconds: float = math.inf) -> ServerResponse:
        """Return the response to one POST request. The request is sent once, without retries.

        Raises:
            TransportError: If the exchange failed.
        """
        target, keys = self._heads.request_target(path), find_key_headers(path)
        return await server_info.request_document(
            self._pool, "POST", target, self._access, body, seconds, keys
        )

    async def send(
        self, method: str, path: str, sink: Sink, body: bytes, seconds: float, *, beside: bool
    ) -> None:
        """Send one request, without retries. `sink` receives the response.

        `path` is appended to the base URL. If `beside` is True, `path` takes the place of the base URL's
        final /v1 instead.

        Raises:
            TransportError: If the exchange failed.
        """
        target = self._heads.target_without_v1(path) if beside else self._heads.request_target(path)
        await server_info.send_request(
            self._pool, method, target, sink, self._access, body, seconds, find_key_headers(path)
        )

    @property
    def _names(self) -> tuple[str, str]:
        """The server's URL and the model's name, for error messages."""
        return self._target.base_url.rstrip("/"), self._target.model
