"""Requests of programs to the relay: facts that identify them, and their conversion for the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import xxhash

from benchwright.endpoint.dialects import Dialect, NotTranslated
from benchwright.endpoint.dialects.gemini.address import OF_THE_ADDRESS, Address, path_of
from benchwright.endpoint.dialects.gemini.names import field_of
from benchwright.endpoint.dialects.losses import Losses
from benchwright.endpoint.relay.settings import Settings, sent_settings
from benchwright.endpoint.serving.http import HttpError
from benchwright.records import UNREADABLE, Record

_OF_THE_TRANSFER = ("stream", "stream_options", "alt")

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_all = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


class RequestFacts(Record, frozen=True):
    """Facts about a program's request, taken before it is passed on.

    `digest`: a hash of its fields, except those that only concern the transfer (such as `stream`). `opening`:
    a hash of the beginning of its conversation, which is the instructions and the first message.
    """

    dialect: str = "chat"
    offers_tools: bool = False
    stream: bool = False
    digest: int = 0
    opening_digest: int = 0


def fields_of(body: bytes) -> dict[str, Any]:
    """Return the top-level fields of a request body, with their values as undecoded JSON.

    Raises:
        HttpError: If the body is not a JSON object.
    """
    try:
        return dict(_decode(body))
    except UNREADABLE as error:
        raise HttpError(400, f"The body is not a JSON object: {error}") from None


def read_whole(body: bytes) -> dict[str, Any]:
    """Return the fields of a request body, fully decoded.

    Raises:
        HttpError: If the body is not a JSON object.
    """
    try:
        return _decode_all(body)
    except UNREADABLE as error:
        raise HttpError(400, f"The body cannot be read: {error}") from None


def with_address(address: Address, body: bytes) -> bytes:
    """Return a Gemini body with the fields from its URL added, as other dialects have them in the body.

    Raises:
        HttpError: If the body is not a JSON object.
    """
    return _encode(address.add_to_body(fields_of(body)))


def request_facts(fields: Mapping[str, Any], dialect: Dialect | None) -> RequestFacts:
    """Return the facts by which a request is distinguished from others of its trial.

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

    Instructions that it lacks are None.
    """
    messages = bytes(fields.get("messages") or fields.get("input") or fields.get("contents") or b"[]")
    try:
        first = _decode_list(messages)[:1]
    except UNREADABLE:
        first = []
    return [fields.get("system"), fields.get("instructions"), field_of(fields, "systemInstruction"), *first]


class Outgoing(NamedTuple):
    """A request as it is sent to the target. `settings`: its sampling settings, for the record."""

    path: str
    body: bytes
    settings: dict[str, int | float | str]


def chat_outgoing(path: str, model: str, settings: Settings, fields: Mapping[str, Any]) -> Outgoing:
    """Return the request to the target for a program that uses chat completions.

    The model is replaced by the target's.
    """
    merged = settings.merge_into(fields, None)
    return Outgoing(path, _encode({**merged, "model": model}), sent_settings(None, merged))


def native_outgoing(dialect: Dialect, model: str, settings: Settings, fields: Mapping[str, Any]) -> Outgoing:
    """Return the request to a target that has the program's dialect, with those settings that the dialect has."""
    merged = settings.merge_into(fields, dialect)
    sent = sent_settings(dialect, merged)
    if not dialect.has_model_in_url:
        return Outgoing(dialect.path, _encode({**merged, "model": model}), sent)
    kept = {name: value for name, value in merged.items() if name not in OF_THE_ADDRESS}
    stream, alt = (bytes(fields[name]) for name in ("stream", "alt"))
    return Outgoing(path_of(stream == b"true", alt.strip(b'"').decode()), _encode(kept), sent)


def as_chat(dialect: Dialect, asked: dict[str, Any], losses: Losses | None = None) -> dict[str, Any]:
    """Return the fields of the chat completion that is equivalent to a request (`asked`) in a dialect.

    Parts that it cannot express are added to `losses`.

    Raises:
        HttpError: If there is no such chat completion.
    """
    try:
        return dialect.chat_request(asked, Losses() if losses is None else losses)
    except NotTranslated as error:
        raise HttpError(400, str(error)) from None


OF_TRANSLATION = ("stream_options", "max_tokens")
"""Fields of a chat completion that the translation adds, or whose names differ from those in the program's dialect."""


def translated_outgoing(
    dialect: Dialect, model: str, settings: Settings, asked: dict[str, Any], losses: Losses
) -> Outgoing:
    """Return the request to a target that has chat completions only, translated.

    If it is streamed, usage is requested.

    Raises:
        HttpError: If the request cannot be expressed as a chat completion.
    """
    fields = as_chat(dialect, asked, losses)
    if fields.get("stream"):
        fields["stream_options"] = {"include_usage": True}
    return chat_outgoing("/chat/completions", model, settings, fields)


def chat_view(dialect: Dialect, model: str, body: bytes) -> bytes:
    """Return a request body as the equivalent chat completion, for the record.

    If there is no equivalent, it is returned unchanged.
    """
    try:
        return _encode(as_chat(dialect, {**read_whole(body), "model": model}))
    except HttpError:
        return body
