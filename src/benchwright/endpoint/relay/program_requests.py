"""Requests of programs to the relay: facts that identify a request, and the conversion of requests for the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import xxhash

from benchwright.endpoint.dialects import Dialect, UntranslatableRequest
from benchwright.endpoint.dialects.gemini.field_names import read_field
from benchwright.endpoint.dialects.gemini.urls import URL_FIELDS, GeminiUrl, url_suffix
from benchwright.endpoint.dialects.losses import TranslationLosses
from benchwright.endpoint.relay.settings import RelaySettings, sent_settings
from benchwright.endpoint.serving.http import HttpError
from benchwright.records import DECODE_ERRORS, Record

_OF_THE_TRANSFER = ("stream", "stream_options", "alt")

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_all = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


class RequestFacts(Record, frozen=True):
    """Facts about a program's request, taken before the request is passed on.

    `digest`: a hash of the request's fields, except those that only concern the transfer (such as `stream`).
    `opening_digest`: a hash of the beginning of the conversation, which is the instructions and the first
    message.
    """

    dialect: str = "chat"
    offers_tools: bool = False
    stream: bool = False
    digest: int = 0
    opening_digest: int = 0


def read_fields(body: bytes) -> dict[str, Any]:
    """Return the top-level fields of a request body. Their values are undecoded JSON.

    Raises:
        HttpError: If the body is not a JSON object.
    """
    try:
        return dict(_decode(body))
    except DECODE_ERRORS as error:
        raise HttpError(400, f"The body is not a JSON object: {error}") from None


def decode_body(body: bytes) -> dict[str, Any]:
    """Return the fields of a request body, fully decoded.

    Raises:
        HttpError: If the body is not a JSON object.
    """
    try:
        return _decode_all(body)
    except DECODE_ERRORS as error:
        raise HttpError(400, f"The body cannot be read: {error}") from None


def add_url_fields(address: GeminiUrl, body: bytes) -> bytes:
    """Return a Gemini body with the fields from its URL added. Other dialects have these fields in the body.

    Raises:
        HttpError: If the body is not a JSON object.
    """
    return _encode(address.add_to_body(read_fields(body)))


def request_facts(fields: Mapping[str, Any], dialect: Dialect | None) -> RequestFacts:
    """Return the facts that distinguish a request from other requests of its trial.

    `dialect`: None for chat completions.
    """
    rest = [(name, value) for name, value in fields.items() if name not in _OF_THE_TRANSFER]
    digest = xxhash.xxh3_64_intdigest(_encode(rest))
    offered = bytes(fields.get("tools", b"")) not in (b"", b"[]", b"null")
    if dialect is not None and dialect.offers_tools is not None:
        offered = dialect.offers_tools(fields)
    streams = bytes(fields.get("stream", b"")) == b"true"
    opening = xxhash.xxh3_64_intdigest(_encode(_opening(fields)))
    return RequestFacts("chat" if dialect is None else dialect.name, offered, streams, digest, opening)


def _opening(fields: Mapping[str, Any]) -> list[Any]:
    """Return the instructions and the first message of a request in any dialect.

    The instructions are None if the request has none.
    """
    messages = bytes(fields.get("messages") or fields.get("input") or fields.get("contents") or b"[]")
    try:
        first = _decode_list(messages)[:1]
    except DECODE_ERRORS:
        first = []
    return [fields.get("system"), fields.get("instructions"), read_field(fields, "systemInstruction"), *first]


class OutgoingRequest(NamedTuple):
    """A request as it is sent to the target. `settings`: the request's sampling settings, for the record."""

    path: str
    body: bytes
    settings: dict[str, int | float | str]


def make_chat_request(
    path: str, model: str, settings: RelaySettings, fields: Mapping[str, Any]
) -> OutgoingRequest:
    """Return the request to the target for a program that uses chat completions.

    The requested model is replaced by the target's model.
    """
    merged = settings.merge_into(fields, None)
    return OutgoingRequest(path, _encode({**merged, "model": model}), sent_settings(None, merged))


def make_native_request(
    dialect: Dialect, model: str, settings: RelaySettings, fields: Mapping[str, Any]
) -> OutgoingRequest:
    """Return the request to a target that has the program's dialect.

    Settings that the dialect does not have are left out.
    """
    merged = settings.merge_into(fields, dialect)
    sent = sent_settings(dialect, merged)
    if not dialect.has_model_in_url:
        return OutgoingRequest(dialect.path, _encode({**merged, "model": model}), sent)
    kept = {name: value for name, value in merged.items() if name not in URL_FIELDS}
    stream, alt = (bytes(fields[name]) for name in ("stream", "alt"))
    return OutgoingRequest(url_suffix(stream == b"true", alt.strip(b'"').decode()), _encode(kept), sent)


def to_chat_fields(
    dialect: Dialect, asked: dict[str, Any], losses: TranslationLosses | None = None
) -> dict[str, Any]:
    """Return the fields of the chat completion that is equivalent to a request (`asked`) in a dialect.

    Parts of the request that a chat completion cannot express are added to `losses`.

    Raises:
        HttpError: If no chat completion is equivalent.
    """
    try:
        return dialect.chat_request(asked, TranslationLosses() if losses is None else losses)
    except UntranslatableRequest as error:
        raise HttpError(400, str(error)) from None


TRANSLATION_FIELDS = ("stream_options", "max_tokens")
"""Fields of a translated request that are left out or renamed if the target refuses them.

The translation adds these fields, or makes them from fields of the program's dialect.
"""


def make_translated_request(
    dialect: Dialect, model: str, settings: RelaySettings, asked: dict[str, Any], losses: TranslationLosses
) -> OutgoingRequest:
    """Translate a request for a target that has chat completions only, and return the translated request.

    If the request asks for a stream, the translated request also asks for usage.

    Raises:
        HttpError: If the request cannot be expressed as a chat completion.
    """
    fields = to_chat_fields(dialect, asked, losses)
    if fields.get("stream"):
        fields["stream_options"] = {"include_usage": True}
    return make_chat_request("/chat/completions", model, settings, fields)


def convert_body_to_chat(dialect: Dialect, model: str, body: bytes) -> bytes:
    """Return the chat completion that is equivalent to a request body, for the record.

    If there is no equivalent, the body is returned unchanged.
    """
    try:
        return _encode(to_chat_fields(dialect, {**decode_body(body), "model": model}))
    except HttpError:
        return body
