"""Events of a dialect as they go over the wire."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

Event = dict[str, Any]

EVENT_STREAM = b"text/event-stream"

_encode = msgspec.json.Encoder().encode


class Frames(Protocol):
    """Puts the events of one stream into bytes."""

    content_type: bytes

    def of(self, events: list[Event]) -> bytes:
        """The bytes of some events; b"" for none."""
        ...

    def end(self) -> bytes:
        """What follows the last event."""
        ...


class NamedEvents:
    """Server-sent events, each called by its type."""

    content_type = EVENT_STREAM

    def of(self, events: list[Event]) -> bytes:
        """The bytes of some events."""
        return b"".join(
            [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), _encode(event)) for event in events]
        )

    def end(self) -> bytes:
        """Nothing."""
        return b""


class PlainEvents:
    """Server-sent events without names."""

    content_type = EVENT_STREAM

    def of(self, events: list[Event]) -> bytes:
        """The bytes of some events."""
        return b"".join([b"data: %b\n\n" % _encode(event) for event in events])

    def end(self) -> bytes:
        """Nothing."""
        return b""


class OneArray:
    """One JSON array, element by element."""

    content_type = b"application/json"

    def __init__(self) -> None:
        self._before = b"["

    def of(self, events: list[Event]) -> bytes:
        """The bytes of some events."""
        said = []
        for event in events:
            said += [self._before, _encode(event)]
            self._before = b",\n"
        return b"".join(said)

    def end(self) -> bytes:
        """The end of the array."""
        return b"[]" if self._before == b"[" else b"]"


def frames_of(asked: dict[str, Any]) -> Frames:
    """The frames that a request of Gemini asks for by its address (`alt`)."""
    return PlainEvents() if asked.get("alt") == "sse" else OneArray()
