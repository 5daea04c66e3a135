"""The private channel to the host: reads JSON lines, and writes frames that contain a nonce.

The format is that of `packs/node/channel.cjs`.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from typing import Any

CHANNEL_LOST = 70
_leave = os._exit  # the original, before `guard_process` replaces it


class Channel:
    """Writes frames, from any thread. `send` returns when the whole frame is written."""

    def __init__(self, write: int, nonce: str, message_bytes: int) -> None:
        self._write = write
        self._nonce = nonce
        self._most = message_bytes
        self._sequence = 0
        self._lock = threading.Lock()

    def send(self, call: int, kind: str, text: str) -> bool:
        """Send a frame with JSON text. If the frame is too large, send nothing and return False."""
        if len(text) > self._most:
            return False
        with self._lock:
            frame = f"\n{self._nonce} {self._sequence} {call} {kind} {text}\n".encode("ascii")
            self._sequence += 1
            try:
                while frame:
                    frame = frame[os.write(self._write, frame) :]
            except OSError:
                _leave(CHANNEL_LOST)
        return True


async def read_lines(read: int) -> asyncio.Queue[dict[str, Any]]:
    """Return a queue of the host's messages, in order.

    When the host closes its end of the channel, the process exits.
    """
    lines: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: _Lines(lines), open(read, "rb", 0))  # noqa: ASYNC230, SIM115
    return lines


class _Lines(asyncio.Protocol):
    def __init__(self, lines: asyncio.Queue[dict[str, Any]]) -> None:
        self._lines = lines
        self._pending = bytearray()

    def data_received(self, data: bytes) -> None:
        self._pending += data
        if b"\n" in data:
            *whole, rest = bytes(self._pending).split(b"\n")
            self._pending = bytearray(rest)
            for line in whole:
                self._lines.put_nowait(json.loads(line))

    def connection_lost(self, exc: Exception | None) -> None:
        _leave(CHANNEL_LOST)
