"""Requests to a server that generate nothing: requests for its models, metrics, embeddings, and token counts."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import msgspec

from benchwright.endpoint.access import ANONYMOUS_ACCESS, Access
from benchwright.endpoint.address import Address, find_proxy, parse_base_url
from benchwright.endpoint.connection import Headers, Sink, TransportError
from benchwright.endpoint.failures import describe_status, error_from_response, error_from_transport
from benchwright.endpoint.request_heads import BEARER_HEADER, header_lines
from benchwright.endpoint.timeouts import Timeouts
from benchwright.endpoint.transport import ConnectionPool, PreparedRequest
from benchwright.errors import ProviderError
from benchwright.records import DECODE_ERRORS, Record

DEFAULT_TIMEOUTS = Timeouts(connect_seconds=10.0, read_seconds=30.0, stall_seconds=30.0, total_seconds=60.0)
SHORT_TIMEOUTS = Timeouts(connect_seconds=10.0, read_seconds=5.0, stall_seconds=5.0, total_seconds=10.0)
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
"""Maximum size of a response in bytes. A larger response is an error."""


class ServerResponse(Record, frozen=True):
    """A whole response: its HTTP status, headers and body."""

    status: int
    headers: Headers
    body: bytes


class _Whole:
    """A sink that stores the whole response."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Headers = []
        self.body = bytearray()

    def receive_head(self, status: int, headers: Headers, at: int) -> None:
        self.status, self.headers = status, headers

    def last_token_time(self) -> None:
        """Return None, because these responses do not consist of tokens."""

    def receive_data(self, chunk: bytes, at: int) -> None:
        if len(self.body) + len(chunk) > MAX_RESPONSE_BYTES:
            raise TransportError("malformed", f"the answer is larger than {MAX_RESPONSE_BYTES:,} bytes")
        self.body += chunk


async def request_document(
    pool: ConnectionPool,
    method: str,
    path: str,
    access: Access = ANONYMOUS_ACCESS,
    body: bytes = b"",
    seconds: float = math.inf,
    key_headers: Sequence[str] = (BEARER_HEADER,),
) -> ServerResponse:
    """Send one request, and return the whole response.

    `seconds`: the time that the response may take. `key_headers`: the headers in which the key of `access` is
    sent.

    Raises:
        TransportError: If the exchange failed.
    """
    sink = _Whole()
    await send_request(pool, method, path, sink, access, body, seconds, key_headers)
    return ServerResponse(sink.status, sink.headers, bytes(sink.body))


async def send_request(
    pool: ConnectionPool,
    method: str,
    path: str,
    sink: Sink,
    access: Access = ANONYMOUS_ACCESS,
    body: bytes = b"",
    seconds: float = math.inf,
    key_headers: Sequence[str] = (BEARER_HEADER,),
) -> None:
    """Send one request, and pass the response to `sink` as it arrives.

    The other arguments are those of `request_document`.

    Raises:
        TransportError: If the exchange failed.
    """
    own = [("Accept", "*/*")]
    if body:
        own.append(("Content-Type", "application/json"))
    if body or method == "POST":
        own.append(("Content-Length", str(len(body))))
    lines = [f"{method} {path} HTTP/1.1", *header_lines(pool.address, access, own, key_headers)]
    await pool.send(PreparedRequest("\r\n".join([*lines, "\r\n"]).encode(), body, seconds), sink)


class _Model(Record, frozen=True):
    id: str
    owned_by: str = ""


class _Models(Record, frozen=True):
    data: list[_Model] = []


async def list_models(base_url: str, access: Access, limits: Timeouts = DEFAULT_TIMEOUTS) -> Sequence[str]:
    """Return the names of the models that an endpoint serves, from `GET /models`.

    Raises:
        ProviderError: If there is no server at the address, or its response is not a list of models.
    """
    return [model.id for model in await _models(base_url, access, limits)]


async def list_owners(base_url: str, access: Access) -> Sequence[str]:
    """Return the owners (`owned_by`) of an endpoint's models. Return an empty sequence if it has no list of models.

    Raises:
        ProviderError: If there is no server at the address.
    """
    try:
        return [model.owned_by for model in await _models(base_url, access, SHORT_TIMEOUTS)]
    except ProviderError as error:
        if error.http_status is None and error.systemic:
            raise
        return []


async def has_version_route(base_url: str, access: Access) -> bool:
    """Return True if a server has a `/version` like vLLM's.

    Such a path takes the place of the base URL's `/v1`. Its response is a version and nothing else.
    """
    address = parse_base_url(base_url)
    beside = msgspec.structs.replace(address, path_prefix=address.path_prefix.removesuffix("/v1"))
    try:
        document = await _get(beside, "/version", access, base_url, SHORT_TIMEOUTS)
        answer = msgspec.json.decode(document.body)
    except (ProviderError, *DECODE_ERRORS):
        return False
    return isinstance(answer, dict) and list(answer) == ["version"]


async def _models(base_url: str, access: Access, limits: Timeouts) -> list[_Model]:
    document = await _get(parse_base_url(base_url), "/models", access, base_url, limits)
    try:
        return msgspec.json.decode(document.body, type=_Models).data
    except DECODE_ERRORS as error:
        raise ProviderError(f"{base_url}/models is not a list of models: {error}.") from None


async def read_metrics(url: str, access: Access = ANONYMOUS_ACCESS) -> str:
    """Return the page of metrics at a URL, in the Prometheus text format.

    Raises:
        ProviderError: If the server cannot be reached, or its response is an error.
    """
    document = await _ask(parse_base_url(url), "", access, url)
    if document.status != 200:
        name = next((value for header, value in document.headers if header == b"server"), b"").decode(
            "latin-1"
        )
        server = f" (server: {name})" if name else ""
        raise ProviderError(
            f"{url} answered {describe_status(document.status, document.body).rstrip('.')}{server}."
        )
    return document.body.decode("utf-8", "replace")


async def _get(
    address: Address, path: str, access: Access, url: str, limits: Timeouts = DEFAULT_TIMEOUTS
) -> ServerResponse:
    document = await _ask(address, path, access, url, limits)
    if document.status != 200:
        raise error_from_response(document.status, document.headers, document.body, url, "")
    return document


async def _ask(
    address: Address, path: str, access: Access, url: str, limits: Timeouts = DEFAULT_TIMEOUTS
) -> ServerResponse:
    proxy = find_proxy(address, os.environ)
    pool = ConnectionPool(address, connections=1, limits=limits, proxy=proxy, tls=access.tls)
    try:
        return await request_document(pool, "GET", address.request_target(address.path_prefix + path), access)
    except TransportError as error:
        raise error_from_transport(error, url, answered_before=False) from None
    finally:
        pool.close()


class _Embedding(Record, frozen=True):
    index: int
    embedding: list[float]


class _Embeddings(Record, frozen=True):
    data: list[_Embedding]


def read_embeddings(document: ServerResponse, count: int, url: str, model: str) -> list[list[float]]:
    """Return `count` vectors from a response of `/embeddings`, in the order of the texts.

    Raises:
        ProviderError: If the response is an error, or does not hold `count` vectors of equal length.
    """
    if document.status != 200:
        raise error_from_response(document.status, document.headers, document.body, url, model)
    try:
        found = sorted(msgspec.json.decode(document.body, type=_Embeddings).data, key=lambda one: one.index)
    except DECODE_ERRORS as error:
        raise ProviderError(f"{url}/embeddings answers with no embeddings: {error}.") from None
    lengths = {len(one.embedding) for one in found}
    if [one.index for one in found] != list(range(count)) or len(lengths) != 1 or 0 in lengths:
        raise ProviderError(
            f"{url}/embeddings answers with something else than {count} vectors of one length."
        )
    return [one.embedding for one in found]


class _Count(Record, frozen=True):
    count: int | None = None
    tokens: list[Any] | None = None


class TokenCounter:
    """Token counter that uses the server's `/tokenize`, which takes the place of the base URL's `/v1`.

    The text is sent in the field that vLLM and SGLang use. If that fails, it is sent in llama.cpp's field.
    """

    def __init__(self, pool: ConnectionPool, model: str, access: Access) -> None:
        self._pool = pool
        self._model = model
        self._access = access
        self._path = pool.address.request_target(f"{pool.address.path_prefix.removesuffix('/v1')}/tokenize")
        self._fields = ["prompt", "content"]

    async def count(self, text: str) -> int | None:
        """Return the number of tokens of a text. Return None once the server has proved unable to count."""
        while self._fields:
            field, *others = self._fields
            found = await self._ask(field, text)
            if found is None:
                self._fields = []
            elif found.count is not None:
                return found.count
            elif found.tokens is not None and (found.tokens or not others):
                return len(found.tokens)
            else:  # the server ignored the field
                self._fields = others
        return None

    async def _ask(self, field: str, text: str) -> _Count | None:
        """Return the server's count for a text sent in this field. Return None if the response holds no count."""
        body = msgspec.json.encode({"model": self._model, field: text})
        try:
            document = await request_document(self._pool, "POST", self._path, self._access, body)
            return msgspec.json.decode(document.body, type=_Count) if document.status == 200 else None
        except (TransportError, msgspec.DecodeError):
            return None
