"""Encoders that turn the events of a dialect's stream into bytes."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

Event = dict[str, Any]

EVENT_STREAM = b"text/event-stream"

_encode = msgspec.json.Encoder().encode


class EventEncoder(Protocol):
    """Encoder of the events of one stream."""

    content_type: bytes

    def encode(self, events: list[Event]) -> bytes:
        """Return these events as bytes. Return b"" if there are no events."""
        ...

    def encode_end(self) -> bytes:
        """Return the bytes that follow the last event."""
        ...


class NamedEventEncoder:
    """Encoder of server-sent events whose names are the types of the events."""

    content_type = EVENT_STREAM

    def encode(self, events: list[Event]) -> bytes:
        """Return these events as bytes."""
        return b"".join(
            [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), _encode(event)) for event in events]
        )

    def encode_end(self) -> bytes:
        """Return b"", because nothing follows the last event."""
        return b""


class UnnamedEventEncoder:
    """Encoder of server-sent events without names."""

    content_type = EVENT_STREAM

    def encode(self, events: list[Event]) -> bytes:
        """Return these events as bytes."""
        return b"".join([b"data: %b\n\n" % _encode(event) for event in events])

    def encode_end(self) -> bytes:
        """Return b"", because nothing follows the last event."""
        return b""


class JsonArrayEncoder:
    """Encoder of events as the elements of one JSON array."""

    content_type = b"application/json"

    def __init__(self) -> None:
        self._before = b"["

    def encode(self, events: list[Event]) -> bytes:
        """Return these events as bytes."""
        said = []
        for event in events:
            said += [self._before, _encode(event)]
            self._before = b",\n"
        return b"".join(said)

    def encode_end(self) -> bytes:
        """Return the closing bracket of the array."""
        return b"[]" if self._before == b"[" else b"]"


def gemini_event_encoder(asked: dict[str, Any]) -> EventEncoder:
    """Return the encoder for the stream format that a Gemini request selects by the parameter `alt` of its URL."""
    return UnnamedEventEncoder() if asked.get("alt") == "sse" else JsonArrayEncoder()
