"""A trial's conversation as a page shows it: every message, reasoning apart, tools called, the answer marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from benchwright.analysis.report.messages import ParsedMessage, as_json, parse_messages
from benchwright.analysis.report.pieces import cut
from benchwright.analysis.report.records import Pieces
from benchwright.engine.answers import content_text
from benchwright.records import UNREADABLE, Record
from benchwright.runs.journal import Body
from benchwright.web.text import LONGEST

MOST_MESSAGES = 400
"""Messages of one conversation that are shown: the first ones, then the last."""

FIRST = 20


class ToolCall(Record, frozen=True):
    """A tool that the model called; `id` joins it to its result."""

    name: str
    id: str
    arguments: Pieces


class MessageView(Record, frozen=True):
    """One message. `answers` is the id of the call whose result it is; `left_out` messages come before it."""

    role: str
    pieces: Pieces
    reasoning: Pieces
    calls: list[ToolCall]
    answers: str = ""
    name: str = ""
    left_out: int = 0


def message_views(body: Body, spans: Sequence[str]) -> list[MessageView]:
    """The messages of a trial; `spans` are what its scorers took as the answer, marked in the last answer."""
    parsed, left_out = parse_messages(body, spans, FIRST, MOST_MESSAGES)
    return [_message_view(message, left_out if place == FIRST else 0) for place, message in enumerate(parsed)]


def shows_answer(body: Body) -> bool:
    """Whether the answer of a trial is among its messages, so that it need not be shown by itself."""
    if not body.answer:
        return True
    texts = (content_text(one.get("content")) for one in body.messages if one.get("role") == "assistant")
    return any(body.answer in text for text in texts)


def _message_view(message: ParsedMessage, left_out: int) -> MessageView:
    calls = [
        ToolCall(call.name, call.id, cut(pretty_text(call.arguments), LONGEST)) for call in message.calls
    ]
    return MessageView(
        role=message.role,
        pieces=cut(message.text, LONGEST, message.span),
        reasoning=cut(message.reasoning, LONGEST),
        calls=calls,
        answers=str(message.message.get("tool_call_id") or ""),
        name=str(message.message.get("name") or "")[:100],
        left_out=left_out,
    )


def pretty(value: Any) -> str:
    """A value as indented JSON."""
    return pretty_text(as_json(value))


def pretty_text(text: str) -> str:
    """Text that is JSON, indented; other text as it is."""
    try:
        return msgspec.json.format(text, indent=2)
    except UNREADABLE:
        return text
