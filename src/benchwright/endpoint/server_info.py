"""What a server says besides answers: its models, its metrics, how many tokens a text has."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import msgspec

from benchwright.endpoint.access import NO_ACCESS, Access
from benchwright.endpoint.address import Address, parse_base_url, proxy_for
from benchwright.endpoint.connection import Headers, Sink, WireError
from benchwright.endpoint.failures import answered, from_answer, from_wire
from benchwright.endpoint.heads import BEARER, header_lines
from benchwright.endpoint.limits import Limits
from benchwright.endpoint.wire import Call, Wire
from benchwright.errors import ProviderError
from benchwright.records import UNREADABLE, Record

PATIENCE = Limits(connect=10.0, read=30.0, stall=30.0, total=60.0)
BRIEFLY = Limits(connect=10.0, read=5.0, stall=5.0, total=10.0)
LARGEST = 64 * 1024 * 1024
"""Bytes of a document that are kept; a larger one is refused."""


class Document(Record, frozen=True):
    """A whole answer: its HTTP status, headers and body."""

    status: int
    headers: Headers
    body: bytes


class _Whole:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Headers = []
        self.body = bytearray()

    def head(self, status: int, headers: Headers, at: int) -> None:
        self.status, self.headers = status, headers

    def token_at(self) -> None:
        """None: documents have no tokens."""

    def data(self, chunk: bytes, at: int) -> None:
        if len(self.body) + len(chunk) > LARGEST:
            raise WireError("malformed", f"the answer is larger than {LARGEST:,} bytes")
        self.body += chunk


async def ask(
    wire: Wire,
    method: str,
    path: str,
    access: Access = NO_ACCESS,
    body: bytes = b"",
    seconds: float = math.inf,
    key_headers: Sequence[str] = (BEARER,),
) -> Document:
    """Sends one request over a wire and returns the whole answer, which may take so many `seconds`.

    The key of `access` is sent in `key_headers`.

    Raises:
        WireError: the exchange failed.
    """
    sink = _Whole()
    await send(wire, method, path, sink, access, body, seconds, key_headers)
    return Document(sink.status, sink.headers, bytes(sink.body))


async def send(
    wire: Wire,
    method: str,
    path: str,
    sink: Sink,
    access: Access = NO_ACCESS,
    body: bytes = b"",
    seconds: float = math.inf,
    key_headers: Sequence[str] = (BEARER,),
) -> None:
    """Sends such a request, and hands the answer to `sink` as it comes.

    Raises:
        WireError: The exchange failed.
    """
    own = [("Accept", "*/*")]
    if body:
        own.append(("Content-Type", "application/json"))
    if body or method == "POST":
        own.append(("Content-Length", str(len(body))))
    lines = [f"{method} {path} HTTP/1.1", *header_lines(wire.address, access, own, key_headers)]
    await wire.send(Call("\r\n".join([*lines, "\r\n"]).encode(), body, seconds), sink)


class _Model(Record, frozen=True):
    id: str
    owned_by: str = ""


class _Models(Record, frozen=True):
    data: list[_Model] = []


async def list_models(base_url: str, access: Access, limits: Limits = PATIENCE) -> Sequence[str]:
    """The names of the models that an endpoint serves, from `GET /models`.

    Raises:
        ProviderError: there is no such server, or it does not answer with a list of models.
    """
    return [model.id for model in await _models(base_url, access, limits)]


async def list_owners(base_url: str, access: Access) -> Sequence[str]:
    """Whom the models of an endpoint belong to, as it says in `owned_by`; empty where it has no list of models.

    Raises:
        ProviderError: there is no such server.
    """
    try:
        return [model.owned_by for model in await _models(base_url, access, BRIEFLY)]
    except ProviderError as error:
        if error.http_status is None and error.systemic:
            raise
        return []


async def tells_version(base_url: str, access: Access) -> bool:
    """Whether a server has a `/version` beside `/v1` that names a version and nothing else, as vLLM has."""
    address = parse_base_url(base_url)
    beside = msgspec.structs.replace(address, prefix=address.prefix.removesuffix("/v1"))
    try:
        document = await _get(beside, "/version", access, base_url, BRIEFLY)
        answer = msgspec.json.decode(document.body)
    except (ProviderError, *UNREADABLE):
        return False
    return isinstance(answer, dict) and list(answer) == ["version"]


async def _models(base_url: str, access: Access, limits: Limits) -> list[_Model]:
    document = await _get(parse_base_url(base_url), "/models", access, base_url, limits)
    try:
        return msgspec.json.decode(document.body, type=_Models).data
    except UNREADABLE as error:
        raise ProviderError(f"{base_url}/models is not a list of models: {error}.") from None


async def read_metrics(url: str, access: Access = NO_ACCESS) -> str:
    """The text at a Prometheus address.

    Raises:
        ProviderError: If nobody answers there, or with something else than a page.
    """
    document = await _ask(parse_base_url(url), "", access, url)
    if document.status != 200:
        name = next((value for header, value in document.headers if header == b"server"), b"").decode(
            "latin-1"
        )
        server = f" (server: {name})" if name else ""
        raise ProviderError(f"{url} answered {answered(document.status, document.body).rstrip('.')}{server}.")
    return document.body.decode("utf-8", "replace")


async def _get(address: Address, path: str, access: Access, url: str, limits: Limits = PATIENCE) -> Document:
    document = await _ask(address, path, access, url, limits)
    if document.status != 200:
        raise from_answer(document.status, document.headers, document.body, url, "")
    return document


async def _ask(address: Address, path: str, access: Access, url: str, limits: Limits = PATIENCE) -> Document:
    proxy = proxy_for(address, os.environ)
    wire = Wire(address, connections=1, limits=limits, proxy=proxy, tls=access.tls)
    try:
        return await ask(wire, "GET", address.target(address.prefix + path), access)
    except WireError as error:
        raise from_wire(error, url, answered_before=False) from None
    finally:
        wire.close()


class _Embedding(Record, frozen=True):
    index: int
    embedding: list[float]


class _Embeddings(Record, frozen=True):
    data: list[_Embedding]


def read_embeddings(document: Document, count: int, url: str, model: str) -> list[list[float]]:
    """So many vectors, in the order of their texts, from an answer of `/embeddings`.

    Raises:
        ProviderError: it is an error, or something else.
    """
    if document.status != 200:
        raise from_answer(document.status, document.headers, document.body, url, model)
    try:
        found = sorted(msgspec.json.decode(document.body, type=_Embeddings).data, key=lambda one: one.index)
    except UNREADABLE as error:
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
    """Counts tokens by the server's `/tokenize`, beside `/v1`; None where there is none.

    It takes the text in a field of vLLM's and SGLang's name, or in one of llama.cpp's.
    """

    def __init__(self, wire: Wire, model: str, access: Access) -> None:
        self._wire = wire
        self._model = model
        self._access = access
        self._path = wire.address.target(f"{wire.address.prefix.removesuffix('/v1')}/tokenize")
        self._fields = ["prompt", "content"]

    async def count(self, text: str) -> int | None:
        """The number of tokens of a text; None once the server has shown that it does not count."""
        while self._fields:
            field, *others = self._fields
            found = await self._ask(field, text)
            if found is None:
                self._fields = []
            elif found.count is not None:
                return found.count
            elif found.tokens is not None and (found.tokens or not others):
                return len(found.tokens)
            else:  # the field was passed over
                self._fields = others
        return None

    async def _ask(self, field: str, text: str) -> _Count | None:
        """Returns what the server says of a text in this field; None if it says nothing."""
        body = msgspec.json.encode({"model": self._model, field: text})
        try:
            document = await ask(self._wire, "POST", self._path, self._access, body)
            return msgspec.json.decode(document.body, type=_Count) if document.status == 200 else None
        except (WireError, msgspec.DecodeError):
            return None
