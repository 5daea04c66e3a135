"""Encoders of the events of a dialect's stream as bytes."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

Event = dict[str, Any]

EVENT_STREAM = b"text/event-stream"

_encode = msgspec.json.Encoder().encode


class Frames(Protocol):
    """Encoder of the events of one stream."""

    content_type: bytes

    def of(self, events: list[Event]) -> bytes:
        """Return the bytes of some events; b"" for none."""
        ...

    def end(self) -> bytes:
        """Return the bytes after the last event."""
        ...


class NamedEvents:
    """Server-sent events, each named by its type."""

    content_type = EVENT_STREAM

    def of(self, events: list[Event]) -> bytes:
        """Return the bytes of some events."""
        return b"".join(
            [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), _encode(event)) for event in events]
        )

    def end(self) -> bytes:
        """Return no bytes."""
        return b""


class PlainEvents:
    """Server-sent events without names."""

    content_type = EVENT_STREAM

    def of(self, events: list[Event]) -> bytes:
        """Return the bytes of some events."""
        return b"".join([b"data: %b\n\n" % _encode(event) for event in events])

    def end(self) -> bytes:
        """Return no bytes."""
        return b""


class OneArray:
    """One JSON array, sent element by element."""

    content_type = b"application/json"

    def __init__(self) -> None:
        self._before = b"["

    def of(self, events: list[Event]) -> bytes:
        """Return the bytes of some events."""
        said = []
        for event in events:
            said += [self._before, _encode(event)]
            self._before = b",\n"
        return b"".join(said)

    def end(self) -> bytes:
        """Return the end of the array."""
        return b"[]" if self._before == b"[" else b"]"


def frames_of(asked: dict[str, Any]) -> Frames:
    """Return the encoder that a Gemini request selects by the `alt` of its URL."""
    return PlainEvents() if asked.get("alt") == "sse" else OneArray()
