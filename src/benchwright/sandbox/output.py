"""Keeps the beginning and the end of a stream of unknown length."""

from __future__ import annotations


class HeadAndTail:
    """The first and the last bytes of a stream, together at most `most` bytes."""

    def __init__(self, most: int) -> None:
        self._head_bytes = most - most // 2
        self._tail_bytes = most // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Add the next bytes of the stream."""
        self.total += len(data)
        room = self._head_bytes - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[: max(0, len(self._tail) - self._tail_bytes)]

    @property
    def missing_bytes(self) -> int:
        """Number of bytes that are missing between the first and the last bytes."""
        return self.total - len(self._head) - len(self._tail)

    def content(self) -> bytes:
        """Return the kept bytes. If bytes are missing between the first and the last, a mark is put there."""
        mark = b"\n[... %d bytes left out ...]\n" % self.missing_bytes if self.missing_bytes else b""
        return bytes(self._head) + mark + bytes(self._tail)
