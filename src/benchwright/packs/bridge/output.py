"""Passes a pack's output to the log in lines, up to a limit."""

from __future__ import annotations

from collections.abc import Callable

MAX_LINE_LENGTH = 8192
_NO_MESSAGE = (" ", "\t", "#", "-", "<", "(", "Node.js v")
"""Beginnings of lines near an error that are not the error's message: stack frames, warnings, V8's last lines."""


class OutputLineSplitter:
    """Splits stdout and stderr into lines, and calls `line(stream, text)` for each line.

    Long lines are cut, and output beyond `most_bytes` is dropped. `last_error`: the last line of stderr that
    may be an error message: not empty, and not a stack frame.
    """

    def __init__(self, line: Callable[[str, str], None], most_bytes: int) -> None:
        self.last_error = ""
        self._line = line
        self._left = most_bytes
        self._pending = {"stdout": bytearray(), "stderr": bytearray()}

    def feed(self, stream: str, data: bytes) -> None:
        """Split data of a stream into lines, and pass on the complete lines."""
        if self._left <= 0:
            return
        self._left -= len(data)
        pending = self._pending[stream]
        pending += data
        *lines, rest = bytes(pending).split(b"\n")
        for line in lines:
            self._tell(stream, line)
        del pending[:]
        pending += rest if len(rest) <= MAX_LINE_LENGTH else b""
        if len(rest) > MAX_LINE_LENGTH:
            self._tell(stream, rest)
        if self._left <= 0:
            self._line(stream, "(the pack prints too much: further output is dropped)")

    def flush(self) -> None:
        """Pass on the incomplete last line of each stream."""
        for stream, pending in self._pending.items():
            if pending and self._left > 0:
                self._tell(stream, bytes(pending))
            pending.clear()

    def _tell(self, stream: str, line: bytes) -> None:
        text = line[:MAX_LINE_LENGTH].decode("utf-8", "replace").rstrip("\r")
        if len(line) > MAX_LINE_LENGTH:
            text += "…"
        if stream == "stderr" and text.strip() and not text.startswith(_NO_MESSAGE):
            self.last_error = text.strip()
        self._line(stream, text)
