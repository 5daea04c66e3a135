"""Parsers of server-sent events and JSON lines, and the pattern that most events of a stream share."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from benchwright.records import DECODE_ERRORS

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 64 * 1024 * 1024

_BARE_ERROR = re.compile(rb'\s*\{\s*"error"\s*:')
"""Matches the beginning of a line that is an error in JSON, without `data:` before it."""


class EventTooLarge(ValueError):
    """Raised if an event has more than `MAX_EVENT_BYTES` bytes."""


class EventStream:
    """Parser that turns pieces of a stream, cut anywhere, into the data of the stream's server-sent events.

    Lines end with CR LF, LF or CR. `data` lines of one event are joined by LF. Comments and the fields
    `event`, `id` and `retry` are ignored. Events without data are ignored, too. As the standard requires, an
    event that is cut off before its blank line is dropped.

    `named_error`: True if any event was named `error`. `error`: the value of a field named `error`, which the
    standard does not have (llama.cpp until September 2025), or a line of JSON that is an error (proxies whose
    stream has begun). `end_bytes`: the bytes to add at the end of the stream so that the last event is
    complete.
    """

    end_bytes = b""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._size = 0
        self._data: list[bytes] = []
        self._started = False
        self._after_cr = False
        self.named_error = False
        self.error = b""

    @property
    def is_idle(self) -> bool:
        """True if no event is incomplete, so that the next byte begins a new event."""
        return not (self._rest or self._data or self._after_cr)

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the data of each event that this piece completes."""
        if chunk.startswith(b"data: ") and not self._rest and not self._data:
            if chunk.find(b"\n") == len(chunk) - 2 and chunk.endswith(b"\n\n") and b"\r" not in chunk:
                self._started, self._after_cr = True, False
                return [chunk[6:-2]]  # one event of one line, as most servers send them
            end = b"\n\n" if chunk.endswith(b"\n\n") else b"\r\n\r\n"
            events = chunk[6 : -len(end)].split(end + b"data: ")
            text = b"".join(events)
            if chunk.endswith(end) and b"\n" not in text and b"\r" not in text:  # several such events
                self._started, self._after_cr = True, False
                return events
        return self._feed_lines(chunk)

    def _feed_lines(self, chunk: bytes) -> list[bytes]:
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r")
        self._rest.append(chunk)
        self._size += len(chunk)
        if self._size > MAX_EVENT_BYTES:
            raise EventTooLarge(f"an event is larger than {MAX_EVENT_BYTES} bytes")
        if self._started and b"\n" not in chunk and b"\r" not in chunk:
            return []
        text = b"".join(self._rest)
        if not self._started:
            if BYTE_ORDER_MARK.startswith(text):
                return []
            self._started = True
            text = text.removeprefix(BYTE_ORDER_MARK)
        lines = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        rest = lines.pop()
        self._rest, self._size = [rest] if rest else [], len(rest)
        events = []
        for line in lines:
            if not line:
                if self._data:
                    events.append(b"\n".join(self._data))
                    self._data = []
                continue
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif name == b"event" and value.strip() == b"error":
                self.named_error = True
            elif name == b"error":
                self.error = value.strip()
            elif _BARE_ERROR.match(line):
                self.error = line
        return events


class JsonLines(EventStream):
    """Parser that turns pieces of a stream of JSON lines, cut anywhere, into lines.

    Some servers stream in this format.
    """

    end_bytes = b"\n"

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that this piece completes."""
        self._size += len(chunk)
        if self._size > MAX_EVENT_BYTES:
            raise EventTooLarge(f"a line is larger than {MAX_EVENT_BYTES} bytes")
        self._rest.append(chunk)
        if b"\n" not in chunk:
            return []
        *lines, rest = b"".join(self._rest).split(b"\n")
        self._rest, self._size = [rest] if rest else [], len(rest)
        return [line for line in lines if line.strip()]


def choose_parser(beginning: bytes) -> EventStream:
    """Return a parser for server-sent events or for JSON lines, whichever begin with these bytes."""
    return JsonLines() if beginning.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{") else EventStream()


_decode = msgspec.json.Decoder().decode
_decode_text = msgspec.json.Decoder(str).decode
_decode_texts = msgspec.json.Decoder(list[str]).decode

_STRING = re.compile(rb'\s*("(?:[^"\\]|\\.)*")')
_PROBE = "another text"


class EventPattern:
    """Pattern of events that differ in one JSON string only.

    The pattern consists of the constant bytes before and after this string. The string is the value of
    `field`.
    """

    __slots__ = ("_after", "_before", "_between", "_first", "_last", "field")

    def __init__(self, field: str, before: bytes, after: bytes) -> None:
        self.field = field
        self._before, self._after = before, after
        self._first, self._last = b"data: " + before, after + b"\n\n"
        self._between = self._last + self._first

    def read_text(self, data: bytes) -> str:
        """Return the text in the data of one event. Return "" if the data do not match the pattern."""
        if data.startswith(self._before) and data.endswith(self._after):
            try:
                return _decode_text(data[len(self._before) : len(data) - len(self._after)])
            except DECODE_ERRORS:
                pass
        return ""

    def read_texts(self, events: bytes) -> list[str]:
        """Return the texts of complete events. `events`: the bytes of the events, as sent.

        Return [] if any of the events does not match the pattern.

        A JSON string holds no line end, so the bytes between two texts cannot occur within a text.
        """
        if not (events.startswith(self._first) and events.endswith(self._last)):
            return []
        strings = events[len(self._first) : len(events) - len(self._last)].split(self._between)
        try:
            texts = _decode_texts(b"[%b]" % b",".join(strings))
        except DECODE_ERRORS:
            return []
        return texts if len(texts) == len(strings) and all(texts) else []


def learn_pattern(data: bytes, chunk: Any, part: dict[str, Any], field: str) -> EventPattern | None:
    """Return the pattern of an event whose text is `part[field]`. Return None if the event has no such pattern.

    `data`: the event's data. `chunk`: the same data, decoded. `part[field]` is overwritten, because of a
    test: another string is put in place of the text. A JSON parser reads from left to right. So if this
    string changes only that field, every string does.
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
