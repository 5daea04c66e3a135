"""What programs ask of the relay: what a target gets of it, and what tells one request from others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import xxhash

from benchwright.endpoint.dialects import Dialect, NotTranslated
from benchwright.endpoint.dialects.gemini.address import OF_THE_ADDRESS, Address, path_of
from benchwright.endpoint.dialects.gemini.names import in_snake_case, said
from benchwright.endpoint.serving.http import HttpError
from benchwright.records import UNREADABLE, Record

_ALSO_CALLED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_OF_THE_TRANSFER = ("stream", "stream_options", "alt")

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_value = msgspec.json.Decoder().decode
_decode_all = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


class Asked(Record, frozen=True):
    """A request before it is passed on: whether it offers tools, and wants a stream.

    `digest` is of all else in it, `opening` of how its conversation begins: instructions and first message.
    """

    dialect: str = "chat"
    offers_tools: bool = False
    stream: bool = False
    digest: int = 0
    opening: int = 0


def fields_of(body: bytes) -> dict[str, Any]:
    """The outermost fields of a request, their values as they were written.

    Raises:
        HttpError: it is no JSON object.
    """
    try:
        return dict(_decode(body))
    except UNREADABLE as error:
        raise HttpError(400, f"The body is not a JSON object: {error}") from None


def read_whole(body: bytes) -> dict[str, Any]:
    """All of a request.

    Raises:
        HttpError: it is no JSON object.
    """
    try:
        return _decode_all(body)
    except UNREADABLE as error:
        raise HttpError(400, f"The body cannot be read: {error}") from None


def read_value(value: bytes) -> Any:
    """A value of a request.

    Raises:
        HttpError: it is nested too deeply.
    """
    try:
        return _decode_value(value)
    except UNREADABLE as error:
        raise HttpError(400, f"The body cannot be read: {error}") from None


def with_address(address: Address, body: bytes) -> bytes:
    """A body of Gemini with what its address says: in here, all dialects say it in the body.

    Raises:
        HttpError: it is no JSON object.
    """
    return _encode(address.in_body(fields_of(body)))


def about(fields: Mapping[str, Any], dialect: Dialect | None) -> Asked:
    """What tells a request from others of its trial; without a dialect it is a chat completion."""
    rest = [(name, value) for name, value in fields.items() if name not in _OF_THE_TRANSFER]
    digest = xxhash.xxh3_64_intdigest(_encode(rest))
    tools = bytes(fields.get("tools", b""))
    offered = tools not in (b"", b"[]", b"null")
    if offered and dialect is not None and dialect.offers_tools is not None:
        offered = dialect.offers_tools(read_value(tools))
    streams = bytes(fields.get("stream", b"")) == b"true"
    opening = xxhash.xxh3_64_intdigest(_encode(_opening(fields)))
    return Asked("chat" if dialect is None else dialect.name, offered, streams, digest, opening)


def _opening(fields: Mapping[str, Any]) -> list[Any]:
    """The instructions of a request and its first message, in any dialect; as far as it has such things."""
    messages = bytes(fields.get("messages") or fields.get("input") or fields.get("contents") or b"[]")
    try:
        first = _decode_list(messages)[:1]
    except UNREADABLE:
        first = []
    return [fields.get("system"), fields.get("instructions"), said(fields, "systemInstruction"), *first]


def body_for(model: str, settings: Mapping[str, Any], fields: Mapping[str, Any]) -> bytes:
    """The body as the target gets it.

    Its model is the target's; a setting is added unless the request has the field, or its other name. The values
    of all fields stay as they are, byte for byte: only the outermost object is taken apart.
    """
    return _encode({**_with_settings(settings, fields), "model": model})


def _with_settings(settings: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields, and those settings that they do not have under either name."""
    merged = dict(fields)
    for name, value in settings.items():
        if name not in merged and _ALSO_CALLED.get(name, in_snake_case(name)) not in merged:
            merged[name] = value
    return merged


def native_request(
    dialect: Dialect, model: str, settings: Mapping[str, Any], fields: Mapping[str, Any]
) -> tuple[str, bytes]:
    """(path, body) for a target that speaks the dialect itself, with those settings that it has a name for.

    Raises:
        HttpError: what should hold the settings is no JSON object.
    """
    renamed = {dialect.settings[name]: value for name, value in settings.items() if name in dialect.settings}
    if dialect.holder is None:
        return dialect.path, body_for(model, renamed, _limited(fields, renamed))
    kept = {name: value for name, value in fields.items() if name not in OF_THE_ADDRESS}
    snake = in_snake_case(dialect.holder)
    holder = snake if snake in kept else dialect.holder
    held = _with_settings(renamed, _limited(fields_of(bytes(kept.get(holder) or b"{}")), renamed))
    if held:
        kept[holder] = held
    stream, alt = (bytes(fields[name]) for name in ("stream", "alt"))
    return path_of(stream == b"true", alt.strip(b'"').decode()), _encode(kept)


def as_chat(dialect: Dialect, asked: dict[str, Any]) -> dict[str, Any]:
    """The fields of the chat completion that asks the same.

    Raises:
        HttpError: there is none.
    """
    try:
        return dialect.chat_request(asked)
    except NotTranslated as error:
        raise HttpError(400, str(error)) from None


OF_TRANSLATION = ("stream_options", "max_tokens")
"""Fields of a chat completion that say in its words, or add to, what was asked in another dialect."""


def translated_body(
    dialect: Dialect, model: str, settings: Mapping[str, Any], asked: dict[str, Any]
) -> bytes:
    """The body for a target that speaks chat completions only; a stream is to tell its tokens.

    Raises:
        HttpError: it cannot be said as a chat completion.
    """
    fields = as_chat(dialect, asked)
    if fields.get("stream"):
        fields["stream_options"] = {"include_usage": True}
    return body_for(model, settings, _limited(fields, settings))


def chat_view(dialect: Dialect, model: str, body: bytes) -> bytes:
    """A request as the chat completion that it would be, for what is kept of it; as it is where it would be none."""
    try:
        return _encode(as_chat(dialect, {**read_whole(body), "model": model}))
    except HttpError:
        return body


_LIMITS = ("max_tokens", "max_output_tokens", "max_completion_tokens", "maxOutputTokens")


def _limited(fields: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The fields without a larger limit of tokens than the settings have: these dialects cannot leave theirs out."""
    most = next((settings[name] for name in _LIMITS if type(settings.get(name)) is int), None)
    kept = dict(fields)
    for name in _LIMITS:
        asked = msgspec.json.decode(kept[name]) if isinstance(kept.get(name), msgspec.Raw) else kept.get(name)
        if most is not None and type(asked) is int and asked > most:
            kept[name] = most
    return kept
