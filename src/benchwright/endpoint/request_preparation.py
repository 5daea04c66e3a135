"""Preparation of requests: the selection of their fields, and their encoding as bytes."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.endpoint.optional_parts import (
    NO_NAMES,
    NONSTANDARD_MESSAGE_FIELDS,
    STREAM_FIELD,
    STREAM_OPTIONS_FIELD,
    omit_fields,
    remove_fields,
)
from benchwright.endpoint.request_heads import REQUEST_ID_HEADER, RequestHeadCache
from benchwright.endpoint.transport import PreparedRequest
from benchwright.records import DECODE_ERRORS

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def select_fields(
    fields: dict[str, Any], *, stream: bool, left_out: frozenset[str] = NO_NAMES
) -> dict[str, Any]:
    """Return the fields that are sent in a request: `fields` without those named in `left_out`.

    `stream`: True to add the fields that request a stream and its usage.
    """
    sent = {name: value for name, value in fields.items() if name not in (STREAM_FIELD, STREAM_OPTIONS_FIELD)}
    if stream and STREAM_FIELD not in left_out:
        sent[STREAM_FIELD] = True
        if STREAM_OPTIONS_FIELD not in left_out:
            sent[STREAM_OPTIONS_FIELD] = {"include_usage": True, **fields.get(STREAM_OPTIONS_FIELD, {})}
    return omit_fields(sent, left_out) if left_out else sent


def prepare_request(
    heads: RequestHeadCache,
    path: str,
    given: dict[str, Any],
    identity: str,
    stream: bool,
    left_out: frozenset[str],
    seconds: float,
) -> PreparedRequest:
    """Return a request that sends these fields (see `select_fields`).

    Messages that are JSON already are used without a copy.
    """
    fields = select_fields(given, stream=stream, left_out=left_out)
    with_id = REQUEST_ID_HEADER not in left_out
    messages = fields.get("messages")
    if isinstance(messages, msgspec.Raw):
        rest = _encode({name: value for name, value in fields.items() if name != "messages"})
        parts = (b'{"messages":', memoryview(messages), b"," + rest[1:])
        head = heads.make_head(path, identity, sum(map(len, parts)), with_id=with_id)
        return PreparedRequest(head + parts[0], time_limit=seconds, body_rest=parts[1:])
    try:
        body = _encode(fields)
    except UnicodeEncodeError:
        body = _encode(_without_surrogates(fields))
    return PreparedRequest(heads.make_head(path, identity, len(body), with_id=with_id), body, seconds)


def omit_from_body(body: bytes, left_out: frozenset[str]) -> bytes:
    """Return a request body without the fields in `left_out`, at the top level and in messages.

    If no message has such a field, all other values stay byte for byte.
    """
    try:
        fields = omit_fields(dict(_decode(body)), left_out)
        messages = fields.get("messages")
        if (names := left_out & NONSTANDARD_MESSAGE_FIELDS) and isinstance(messages, msgspec.Raw):
            fields["messages"] = remove_fields(msgspec.json.decode(messages), names)
        return _encode(fields)
    except DECODE_ERRORS:
        return body


def _without_surrogates(value: Any) -> Any:
    """Return the value with unpaired surrogates replaced, because JSON in UTF-8 cannot hold them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
