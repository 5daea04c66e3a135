"""Reads traces of Bailian (alibaba-edu/qwen-bailian-usagetraces-anon).

Each request names the request before it in its conversation. Times are in seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from benchwright.data.traces.blocks import block_ids
from benchwright.data.traces.decoding import check_not_negative_numbers, decode_line
from benchwright.data.traces.records import Conversation, TracedRequest, TraceLine

BLOCK_SIZE = 16


class BailianRow(msgspec.Struct):
    """A line of a trace. `parent_chat_id` is -1 for the first request of a conversation."""

    chat_id: int
    parent_chat_id: int
    timestamp: float
    input_length: int
    output_length: int
    hash_ids: list[int] = []


_decoder = msgspec.json.Decoder(BailianRow)


def read_conversations(lines: Iterable[TraceLine], block_size: int | None) -> Iterator[Conversation]:
    """Yield the conversations. A request whose parent is not in the file begins a conversation.

    A request starts at its recorded time, but not before the response to its parent.

    Raises:
        UserError: If a line is invalid.
    """
    size = block_size or BLOCK_SIZE
    begun: list[Conversation] = []
    places: dict[int, tuple[Conversation, int]] = {}
    for line in lines:
        row = decode_line(_decoder, line)
        check_not_negative_numbers(
            line.location, input_length=row.input_length, output_length=row.output_length
        )
        parent = places.get(row.parent_chat_id)
        if parent is None:
            conversation = Conversation(str(row.chat_id), [], row.timestamp)
            begun.append(conversation)
        else:
            conversation = parent[0]
        places[row.chat_id] = conversation, len(conversation.requests)
        conversation.requests.append(
            TracedRequest(
                input_tokens=row.input_length,
                output_tokens=row.output_length,
                blocks=block_ids(line.location, row.input_length, row.hash_ids, size),
                block_size=size,
                previous_request=None if parent is None else parent[1],
                earliest_seconds=max(0.0, row.timestamp - (conversation.start_seconds or 0.0)),
            )
        )
    yield from begun
