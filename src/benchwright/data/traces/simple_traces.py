"""Reads simple traces that anybody can write: a list of times, one per line, or JSON Lines with Benchwright's
own fields.
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

BLOCK_SIZE = 16


class SimpleTraceRow(msgspec.Struct, forbid_unknown_fields=True):
    """A request. Times are in seconds. `think` is the time since the previous response in the same conversation."""

    at: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    prompt: str | None = None
    messages: list[Message] | None = None
    conversation: str | int | None = None
    think: float = 0.0
    blocks: list[int] = []
    fields: dict[str, Any] = {}


_decoder = msgspec.json.Decoder(SimpleTraceRow)


def read_json_lines_conversations(
    lines: Iterable[TraceLine], block_size: int | None
) -> Iterator[Conversation]:
    """Yield the requests that name no conversation first, in the file's order. Then yield the conversations.

    Raises:
        UserError: If a line is invalid.
    """
    begun: dict[str, Conversation] = {}
    for number, line in enumerate(lines):
        row = decode_line(_decoder, line)
        name = f"row {number}" if row.conversation is None else str(row.conversation)
        request = _request(row, line.location, block_size or BLOCK_SIZE)
        conversation = begun.get(name)
        if row.conversation is None:
            yield Conversation(name, [request], row.at)
        elif conversation is None:
            begun[name] = Conversation(name, [request], row.at)
        else:
            at = 0.0 if row.at is None else max(0.0, row.at - (conversation.start_seconds or 0.0))
            turn = msgspec.structs.replace(
                request,
                previous_request=len(conversation.requests) - 1,
                think_seconds=row.think,
                earliest_seconds=at,
            )
            conversation.requests.append(turn)
    yield from begun.values()


def _request(row: SimpleTraceRow, place: str, block_size: int) -> TracedRequest:
    check_not_negative_numbers(
        place, at=row.at, think=row.think, input_tokens=row.input_tokens, output_tokens=row.output_tokens
    )
    messages = row.messages
    if messages is None and row.prompt is not None:
        messages = [{"role": "user", "content": row.prompt}]
    return TracedRequest(
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        blocks=block_ids(place, row.input_tokens, row.blocks, block_size),
        block_size=block_size,
        messages=messages,
        fields=row.fields,
    )


def read_time_list_conversations(
    lines: Iterable[TraceLine], block_size: int | None
) -> Iterator[Conversation]:
    """Yield requests of which only the time (in seconds) is known. Lines that begin with # are skipped.

    Raises:
        UserError: If a line is not a time, or is an earlier time than the line before it.
    """
    before = float("-inf")
    for line in lines:
        text = line.text.decode(errors="replace")
        if text.startswith("#"):
            continue
        try:
            at = float(text)
        except ValueError:
            raise UserError(f"{line.location}: {text[:40]!r} is not a time in seconds.") from None
        if not before <= at < float("inf"):
            raise UserError(f"{line.location}: {text} is not a time that comes after the one above it.")
        yield Conversation(line.location, [TracedRequest()], at)
        before = at
