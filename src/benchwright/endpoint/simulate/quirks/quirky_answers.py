"""Application of a quirk to a normal answer of the simulated endpoint."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from benchwright.endpoint.simulate.quirks.event_encodings import encode_chunk
from benchwright.endpoint.simulate.quirks.quirk_table import Quirk
from benchwright.endpoint.simulate.quirks.stream import ChunkStream

_decode = msgspec.json.Decoder().decode
_PREFIX = b"data: "
_DONE = b"[DONE]"


def quirky_stream(quirk: Quirk, opening: bytes, pieces: Iterable[bytes]) -> tuple[bytes, list[bytes]]:
    """Return the opening and the pieces of a stream of chat completions, after the quirk has changed them."""
    stream: ChunkStream = [_chunks(piece) for piece in (opening, *pieces)]
    quirk.change_stream(stream)
    said = [quirk.encode_events(chunks, place == len(stream) - 1) for place, chunks in enumerate(stream)]
    return said[0], said[1:]


def quirky_body(quirk: Quirk, body: bytes) -> bytes:
    """Return the body of a chat completion, after the quirk has changed it."""
    answer = _decode(body)
    quirk.change_body(answer)
    return encode_chunk(answer)


def _chunks(piece: bytes) -> list[dict[str, object]]:
    events = (event.removeprefix(_PREFIX) for event in piece.split(b"\n\n") if event)
    return [_decode(data) for data in events if data != _DONE]
