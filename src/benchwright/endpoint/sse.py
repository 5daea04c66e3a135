"""Server-sent events, read incrementally by the rules of the HTML standard (section 9.2.6)."""

from __future__ import annotations

BOM = b"\xef\xbb\xbf"
LARGEST_EVENT = 64 * 1024 * 1024


class EventTooLarge(ValueError):
    """An event grew beyond `LARGEST_EVENT` bytes without an end."""


class EventStream:
    """Turns pieces of a stream, cut anywhere, into the data of its events.

    Lines end with CR LF, LF or CR; `data` lines of one event are joined by LF; comments and the fields
    `event`, `id` and `retry` are passed over; an event without data is none. An event that the stream's end
    cuts off before its blank line is not delivered, as the standard says.
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._size = 0
        self._data: list[bytes] = []
        self._started = False
        self._after_cr = False

    @property
    def idle(self) -> bool:
        """Whether an event begins with the next byte."""
        return not (self._rest or self._data or self._after_cr)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of the events that this piece completes, in order."""
        if chunk.startswith(b"data: ") and not self._rest and not self._data:
            if chunk.find(b"\n") == len(chunk) - 2 and chunk.endswith(b"\n\n") and b"\r" not in chunk:
                self._started, self._after_cr = True, False
                return [chunk[6:-2]]  # one event of one line, as most servers send them
            end = b"\n\n" if chunk.endswith(b"\n\n") else b"\r\n\r\n"
            events = chunk[6 : -len(end)].split(end + b"data: ")
            if (
                chunk.endswith(end)
                and chunk.count(b"\n") == 2 * len(events)
                and chunk.count(b"\r") == end.count(b"\r") * len(events)
            ):  # several such events
                self._started, self._after_cr = True, False
                return events
        return self._feed_lines(chunk)

    def _feed_lines(self, chunk: bytes) -> list[bytes]:
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r")
        self._rest.append(chunk)
        self._size += len(chunk)
        if self._size > LARGEST_EVENT:
            raise EventTooLarge(f"an event is larger than {LARGEST_EVENT} bytes")
        if self._started and b"\n" not in chunk and b"\r" not in chunk:
            return []
        text = b"".join(self._rest)
        if not self._started:
            if BOM.startswith(text):
                return []
            self._started = True
            text = text.removeprefix(BOM)
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
        return events
