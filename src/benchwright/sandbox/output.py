"""What is kept of a stream that may be endless: its head and its tail."""

from __future__ import annotations


class HeadAndTail:
    """The first and the last bytes of what it is fed, at most `most` of them."""

    def __init__(self, most: int) -> None:
        self._head_bytes = most - most // 2
        self._tail_bytes = most // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Takes the next bytes of the stream."""
        self.total += len(data)
        room = self._head_bytes - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[: max(0, len(self._tail) - self._tail_bytes)]

    @property
    def cut(self) -> int:
        """How many bytes are missing between head and tail."""
        return self.total - len(self._head) - len(self._tail)

    def content(self) -> bytes:
        """Head and tail, with a mark between them where something is missing."""
        mark = b"\n[... %d bytes left out ...]\n" % self.cut if self.cut else b""
        return bytes(self._head) + mark + bytes(self._tail)
