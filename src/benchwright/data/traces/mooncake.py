"""Reads traces of Mooncake (kvcache-ai/Mooncake, FAST25-release/traces): one request per line, times in ms.

AIPerf's extension is supported too. Rows with the same `session_id` are turns of one conversation, each sent
`delay` milliseconds after the previous response. `text_input` or `messages` contain the prompt itself instead
of its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from benchwright.data.traces.blocks import block_ids
from benchwright.data.traces.decoding import check_not_negative_numbers, decode_line
from benchwright.data.traces.records import Conversation, TracedRequest, TraceLine
from benchwright.errors import UserError
from benchwright.records import Message

BLOCK_SIZE = 512


class MooncakeRow(msgspec.Struct):
    """A line of a trace: one request."""

    timestamp: float | None = None
    input_length: int | None = None
    output_length: int | None = None
    hash_ids: list[int] = []
    session_id: str | int | None = None
    delay: float = 0.0
    text_input: str | None = None
    messages: list[Message] | None = None
    tools: list[dict[str, Any]] | None = None


_decoder = msgspec.json.Decoder(MooncakeRow)


def read_conversations(lines: Iterable[TraceLine], block_size: int | None) -> Iterator[Conversation]:
    """Yield the requests without a session first, in the file's order. Then yield the sessions.

    Raises:
        UserError: If a line is invalid.
    """
    sessions: dict[str, Conversation] = {}
    for number, line in enumerate(lines):
        row = decode_line(_decoder, line)
        name = f"row {number}" if row.session_id is None else str(row.session_id)
        begun = sessions.get(name)
        request = _request(row, line.location, block_size or BLOCK_SIZE)
        if begun is None:
            if row.timestamp is None:
                raise UserError(f"{line.location}: it has no timestamp.")
            begun = Conversation(name, [request], row.timestamp / 1000)
            if row.session_id is None:
                yield begun
            else:
                sessions[name] = begun
        else:
            at = (
                0.0
                if row.timestamp is None
                else max(0.0, row.timestamp / 1000 - (begun.start_seconds or 0.0))
            )
            turn = msgspec.structs.replace(
                request,
                previous_request=len(begun.requests) - 1,
                think_seconds=row.delay / 1000,
                earliest_seconds=at,
            )
            begun.requests.append(turn)
    yield from sessions.values()


def _request(row: MooncakeRow, place: str, block_size: int) -> TracedRequest:
    messages = row.messages
    if messages is None and row.text_input is not None:
        messages = [{"role": "user", "content": row.text_input}]
    if messages is None and row.input_length is None:
        raise UserError(f"{place}: it has neither input_length nor a prompt.")
    check_not_negative_numbers(
        place, input_length=row.input_length, output_length=row.output_length, timestamp=row.timestamp
    )
    return TracedRequest(
        input_tokens=row.input_length,
        output_tokens=row.output_length,
        blocks=block_ids(place, row.input_length, row.hash_ids, block_size),
        block_size=block_size,
        messages=messages,
        fields={} if row.tools is None else {"tools": row.tools},
    )
