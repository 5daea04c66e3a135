"""Frames (messages) from a pack's process, one per line: "<nonce> <sequence> <call> <kind> <JSON>".

The nonce is a secret that is created for each process and sent to the process before the pack is loaded. A
line without the nonce is noise, written by a pack that found the pipe.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from benchwright.records import DECODE_ERRORS

MAX_HEADER_BYTES = 256
_SURROGATES = re.compile(
    rb"(\\\\)|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)

_decode = msgspec.json.Decoder().decode


class ChannelBroken(Exception):
    """Raised if a frame is missing or damaged. Then the pack must have written to the channel, or closed it."""


class Frame(NamedTuple):
    """One message.

    `call_number`: the number of the call that the message belongs to, 0 if none. `json`: see `decode_json`.
    """

    call_number: int
    kind: str
    json: bytes


class FrameReader:
    """Parses bytes into frames. Lines that are not frames are shortened and passed to `noise`."""

    def __init__(self, nonce: str, most_bytes: int, noise: Callable[[bytes], None]) -> None:
        self._start = nonce.encode() + b" "
        self._most = most_bytes + MAX_HEADER_BYTES
        self._noise = noise
        self._buffer = bytearray()
        self._searched = 0
        self._skipping = False
        self._next = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that are complete with these bytes.

        Raises:
            ChannelBroken: If a frame with the nonce is damaged or out of sequence.
        """
        self._buffer += data
        while (end := self._buffer.find(b"\n", self._searched)) != -1:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            self._searched = 0
            if self._skipping:
                self._skipping = False
            elif line.startswith(self._start):
                yield self._frame(line[len(self._start) :])
            elif line:
                self._noise(line[:200])
        self._searched = len(self._buffer)
        if len(self._buffer) > self._most:
            self._drop()

    def _frame(self, rest: bytes) -> Frame:
        words = rest.split(b" ", 3)
        if len(words) != 4 or words[0] != b"%d" % self._next or not words[1].isdigit():
            raise ChannelBroken
        self._next += 1
        return Frame(int(words[1]), words[2].decode("ascii", "replace"), words[3])

    def _drop(self) -> None:
        """Discard a line that is too long to be a frame."""
        if self._buffer.startswith(self._start):
            raise ChannelBroken
        if not self._skipping:
            self._noise(bytes(self._buffer[:200]))
        self._buffer.clear()
        self._searched = 0
        self._skipping = True


def decode_json(text: bytes) -> Any:
    """Decode a JSON value. Unpaired surrogates, which UTF-8 cannot encode, become U+FFFD.

    Raises:
        ValueError: If the text is not JSON or is nested too deeply.
    """
    try:
        return _decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except DECODE_ERRORS:
        pass
    try:
        return json.loads(_SURROGATES.sub(_whole_pairs, text))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _whole_pairs(match: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if match[2] else match[0]
