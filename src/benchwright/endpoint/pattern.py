"""What the events of a stream have in common: mostly all but one text, byte for byte.

Servers send the same object again and again, with another piece of text in the same place. Who knows what stands
before and after that text need not read the rest again, and can take all the events that arrived together at once.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

_decode = msgspec.json.Decoder().decode
_decode_text = msgspec.json.Decoder(str).decode
_decode_texts = msgspec.json.Decoder(list[str]).decode

_STRING = re.compile(rb'\s*("(?:[^"\\]|\\.)*")')
_PROBE = "another text"


class EventPattern:
    """The bytes before and after the one JSON string in which the data of events differ: the value of `field`."""

    __slots__ = ("_after", "_before", "_between", "_first", "_last", "field")

    def __init__(self, field: str, before: bytes, after: bytes) -> None:
        self.field = field
        self._before, self._after = before, after
        self._first, self._last = b"data: " + before, after + b"\n\n"
        self._between = self._last + self._first

    def text(self, data: bytes) -> str:
        """The text of one event's data; "" where more than it differs."""
        if data.startswith(self._before) and data.endswith(self._after):
            try:
                return _decode_text(data[len(self._before) : len(data) - len(self._after)])
            except (msgspec.DecodeError, UnicodeError):
                pass
        return ""

    def texts(self, events: bytes) -> list[str]:
        """The texts of whole events as they are sent; none where more than texts differs in any of them.

        No JSON string holds a line end, so what lies between two texts cannot be found within one.
        """
        if not (events.startswith(self._first) and events.endswith(self._last)):
            return []
        strings = events[len(self._first) : len(events) - len(self._last)].split(self._between)
        try:
            texts = _decode_texts(b"[%b]" % b",".join(strings))
        except (msgspec.DecodeError, UnicodeError):
            return []
        return texts if len(texts) == len(strings) and all(texts) else []


def pattern_of(data: bytes, chunk: Any, part: dict[str, Any], field: str) -> EventPattern | None:
    """The pattern of an event with these data, read as `chunk`, the text of which is `part[field]`; that is replaced.

    A JSON reader goes from left to right: where one string in this place changes that field and no other, every
    string does. So it is tried with one. None where it is not so.
    """
    name = b'"%b":' % field.encode()
    start = data.find(name)
    found = _STRING.match(data, start + len(name))
    if start < 0 or found is None:
        return None
    before, after = data[: found.start(1)], data[found.end(1) :]
    part[field] = _PROBE
    if _decode(b'%b"%b"%b' % (before, _PROBE.encode(), after)) != chunk:
        return None
    return EventPattern(field, before, after)
