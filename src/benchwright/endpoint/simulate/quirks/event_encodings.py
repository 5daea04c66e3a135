"""Quirks in how chunks are encoded as the events of a stream."""

from __future__ import annotations

import json
from collections.abc import Callable

from benchwright.endpoint.simulate.quirks.stream import Chunk

EventEncoding = Callable[[list[Chunk], bool], bytes]
"""Function that encodes the chunks of one piece of a stream as bytes.

The second argument is True for the last piece, which ends the stream.
"""

DONE_MARKER = b"[DONE]"


def encode_chunk(chunk: Chunk) -> bytes:
    """Return a chunk as JSON in ASCII. Unpaired surrogates are escaped."""
    return json.dumps(chunk, separators=(",", ":")).encode()


def encode_standard_events(chunks: list[Chunk], last: bool) -> bytes:
    """Return the chunks as events in the standard format."""
    return b"".join([b"data: %b\n\n" % data for data in _all_data(chunks, last)])


def encode_raw_surrogates(chunks: list[Chunk], last: bool) -> bytes:
    """Return the chunks as events in which unpaired surrogates are unescaped bytes (CESU-8)."""
    said = [json.dumps(chunk, ensure_ascii=False).encode("utf-8", "surrogatepass") for chunk in chunks]
    return b"".join([b"data: %b\n\n" % data for data in (*said, *((DONE_MARKER,) if last else ()))])


def encode_without_blank(chunks: list[Chunk], last: bool) -> bytes:
    """Return the chunks as events without a blank after the colon (LongCat, Spring)."""
    return b"".join([b"data:%b\n\n" % data for data in _all_data(chunks, last)])


def encode_with_crlf(chunks: list[Chunk], last: bool) -> bytes:
    """Return the chunks as events with line ends CR LF. A comment precedes the events, and they have further fields."""
    lines = [
        b": alive\r\n\r\nid: 1\r\nretry: 10\r\nevent: chunk\r\ndata: %b\r\n\r\n" % one
        for one in _all_data(chunks, last)
    ]
    return b"".join(lines)


def encode_blanks_after_done(chunks: list[Chunk], last: bool) -> bytes:
    """Return the chunks as events. At the end, [DONE] is sent twice, each with blanks after it."""
    return encode_standard_events(chunks, False) + (b"data: [DONE]  \n\ndata: [DONE]\n\n" if last else b"")


def encode_joined_events(chunks: list[Chunk], last: bool) -> bytes:
    """Return the chunks of a piece as one event with several lines of data."""
    said = b"".join([b"data: %b\n" % encode_chunk(chunk) for chunk in chunks])
    return (said + b"\n" if said else b"") + (b"data: [DONE]\n\n" if last else b"")


def encode_json_lines(chunks: list[Chunk], last: bool) -> bytes:
    """Return the chunks as JSON lines instead of events."""
    return b"".join([encode_chunk(chunk) + b"\n" for chunk in chunks])


def encode_events_until_error(chunks: list[Chunk], last: bool) -> bytes:
    """Return the chunks as events. An error ends the stream without [DONE]."""
    return encode_standard_events(chunks, last=False)


def encode_error_as_json_line(chunks: list[Chunk], last: bool) -> bytes:
    """Return the chunks as events. An error is a line of JSON without `data:` (proxies whose stream has begun)."""
    return encode_json_lines(chunks, last) if last else encode_standard_events(chunks, last)


def _all_data(chunks: list[Chunk], last: bool) -> list[bytes]:
    return [*map(encode_chunk, chunks), *((DONE_MARKER,) if last else ())]
