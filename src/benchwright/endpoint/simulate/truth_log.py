"""The truth log: the server's own record of each request, used to check what a client has measured.

Times are `time.perf_counter_ns()`. On Linux that clock (CLOCK_MONOTONIC, like `time.monotonic_ns()`) is
shared by all processes of a machine. So the times can be compared with those of a client that uses the same
clock.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque

import msgspec

from benchwright.errors import UserError

FLUSH_BYTES = 64 * 1024
FLUSH_SECONDS = 0.25

_encode = msgspec.json.Encoder().encode


class TruthRecord(msgspec.Struct, gc=False):
    """One request, as the server recorded it.

    `id`: the header x-request-id; a request to generate gets an id if it has none. `received`: the time at
    which the request's last byte was read. `first_byte`, `first_token`, `last_byte`: the times at which the
    response's first byte, first token and last byte were written to the kernel, 0 if never. The first token
    of a stream is the first piece with content (a role alone does not count). The first token of a whole
    answer is the body.

    `complete`: True if the whole, undamaged answer was sent. `fault`: the kind of the request's fault, None
    if there was none. `tokens`: the number of tokens of the answer. `prompt_tokens`: the number of tokens of
    the prompt. `cached_tokens`: the number of prompt tokens found in the prefix cache, None if there is no
    cache or the request never began.

    `queued`: how long the request waited for its turn, in ns, including waits after preemptions.
    `prefill_start`, `prefill_end`: the times of the prefill before the first token, 0 if never.
    `preemptions`: how often the request was preempted.
    """

    id: str
    path: str
    received: int
    first_byte: int = 0
    first_token: int = 0
    last_byte: int = 0
    status: int = 0
    fault: str | None = None
    tokens: int = 0
    complete: bool = False
    prompt_tokens: int = 0
    cached_tokens: int | None = None
    queued: int = 0
    prefill_start: int = 0
    prefill_end: int = 0
    preemptions: int = 0


def open_truth_file(path: str | None) -> int | None:
    """Open a truth log and return its file descriptor. Return None if `path` is None.

    Forked processes may share the file descriptor.

    Raises:
        UserError: If the file cannot be opened.
    """
    if path is None:
        return None
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UserError(f"Cannot write the truth log {path}: {error.strerror}.") from None


class TruthLog:
    """Log that keeps the last records in memory, and appends all records to a file if there is one.

    Lines are buffered and written whole to a descriptor in append mode, so that several processes can share
    the file. A line is written at most a quarter of a second later. `close` writes the remaining lines and
    closes the descriptor.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, descriptor: int | None, kept: int) -> None:
        self.records: deque[TruthRecord] = deque(maxlen=kept)
        self._loop = loop
        self._lines = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._descriptor = descriptor

    def add(self, truth: TruthRecord) -> None:
        """Add the record of a request that has ended."""
        self.records.append(truth)
        if self._descriptor is None:
            return
        self._lines += _encode(truth)
        self._lines += b"\n"
        if len(self._lines) >= FLUSH_BYTES:
            self.flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Write the buffered lines."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._lines and self._descriptor is not None:
            lines, self._lines = self._lines, bytearray()
            written = os.write(self._descriptor, lines)
            if written < len(lines):
                raise OSError(f"the truth log took only {written} of {len(lines)} bytes")

    def close(self) -> None:
        """Write the buffered lines and close the file."""
        self.flush()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def read_truth(path: str | os.PathLike[str]) -> list[TruthRecord]:
    """Return the records in a truth log file. A line that is still being written is left out."""
    decode = msgspec.json.Decoder(TruthRecord).decode
    with open(path, "rb") as lines:
        return [decode(line) for line in lines if line.endswith(b"\n")]
