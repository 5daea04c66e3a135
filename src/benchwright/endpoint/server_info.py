"""What a server says besides answers: its models, its metrics, how many tokens a text has."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

import msgspec

from benchwright import __version__
from benchwright.endpoint.address import Address, parse_base_url, proxy_for
from benchwright.endpoint.connection import Headers, WireError
from benchwright.endpoint.failures import answered, from_answer, from_wire
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
    key: str | None = None,
    body: bytes = b"",
    seconds: float = math.inf,
    headers: Sequence[str] = (),
) -> Document:
    """Sends one request over a wire and returns the whole answer, which may take so many `seconds`.

    `headers` are lines besides ours.

    Raises:
        WireError: the exchange failed.
    """
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {wire.address.authority}",
        f"User-Agent: benchwright/{__version__}",
    ]
    lines += ["Accept: */*", "Accept-Encoding: identity"]
    if key and key != "EMPTY":
        lines.append(f"Authorization: Bearer {key}")
    lines += headers
    if body:
        lines.append("Content-Type: application/json")
    if body or method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    sink = _Whole()
    await wire.send(Call("\r\n".join([*lines, "\r\n"]).encode(), body, seconds), sink)
    return Document(sink.status, sink.headers, bytes(sink.body))


class _Model(Record, frozen=True):
    id: str
    owned_by: str = ""


class _Models(Record, frozen=True):
    data: list[_Model] = []


async def list_models(base_url: str, key: str | None, limits: Limits = PATIENCE) -> Sequence[str]:
    """The names of the models that an endpoint serves, from `GET /models`.

    Raises:
        ProviderError: there is no such server, or it does not answer with a list of models.
    """
    return [model.id for model in await _models(base_url, key, limits)]


async def list_owners(base_url: str, key: str | None) -> Sequence[str]:
    """Whom the models of an endpoint belong to, as it says in `owned_by`; empty where it has no list of models.

    Raises:
        ProviderError: there is no such server.
    """
    try:
        return [model.owned_by for model in await _models(base_url, key, BRIEFLY)]
    except ProviderError as error:
        if error.http_status is None and error.systemic:
            raise
        return []


async def tells_version(base_url: str, key: str | None) -> bool:
    """Whether a server has a `/version` beside `/v1` that names a version and nothing else, as vLLM has."""
    address = parse_base_url(base_url)
    beside = msgspec.structs.replace(address, prefix=address.prefix.removesuffix("/v1"))
    try:
        document = await _get(beside, "/version", key, base_url, BRIEFLY)
        answer = msgspec.json.decode(document.body)
    except (ProviderError, *UNREADABLE):
        return False
    return isinstance(answer, dict) and list(answer) == ["version"]


async def _models(base_url: str, key: str | None, limits: Limits) -> list[_Model]:
    document = await _get(parse_base_url(base_url), "/models", key, base_url, limits)
    try:
        return msgspec.json.decode(document.body, type=_Models).data
    except UNREADABLE as error:
        raise ProviderError(f"{base_url}/models is not a list of models: {error}.") from None


async def read_metrics(url: str) -> str:
    """The text at a Prometheus address.

    Raises:
        ProviderError: If nobody answers there, or with something else than a page.
    """
    document = await _ask(parse_base_url(url), "", None, url)
    if document.status != 200:
        name = next((value for header, value in document.headers if header == b"server"), b"").decode(
            "latin-1"
        )
        server = f" (server: {name})" if name else ""
        raise ProviderError(f"{url} answered {answered(document.status, document.body).rstrip('.')}{server}.")
    return document.body.decode("utf-8", "replace")


async def _get(address: Address, path: str, key: str | None, url: str, limits: Limits = PATIENCE) -> Document:
    document = await _ask(address, path, key, url, limits)
    if document.status != 200:
        raise from_answer(document.status, document.headers, document.body, url, "")
    return document


async def _ask(address: Address, path: str, key: str | None, url: str, limits: Limits = PATIENCE) -> Document:
    wire = Wire(address, connections=1, limits=limits, proxy=proxy_for(address, os.environ))
    try:
        return await ask(wire, "GET", (address.prefix + path) or "/", key)
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
    count: int


class TokenCounter:
    """Counts tokens by the server's `/tokenize`, beside `/v1` as vLLM has it; None where there is none."""

    def __init__(self, wire: Wire, model: str, key: str | None) -> None:
        self._wire = wire
        self._model = model
        self._key = key
        self._path = f"{wire.address.prefix.removesuffix('/v1')}/tokenize"
        self._missing = False

    async def count(self, text: str) -> int | None:
        """The number of tokens of a text; None once the server has shown that it does not count."""
        if self._missing:
            return None
        body = msgspec.json.encode({"model": self._model, "prompt": text})
        try:
            document = await ask(self._wire, "POST", self._path, self._key, body)
            if document.status == 200:
                return msgspec.json.decode(document.body, type=_Count).count
        except (WireError, msgspec.DecodeError):
            pass
        self._missing = True
        return None
