"""A trial's conversation as a page shows it: every message, reasoning apart, tools called, the answer marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from benchwright.endpoint.reply import split_reasoning
from benchwright.engine.answers import content_text
from benchwright.engine.journal import Body, ExchangeBody, encode_json
from benchwright.records import Message, Record
from benchwright.reports.html.records import Pieces
from benchwright.reports.html.text import cut, find_span
from benchwright.web.text import LONGEST

REASONING = ("reasoning_content", "reasoning")
MOST_MESSAGES = 400
"""Messages of one conversation that are shown: the first ones, then the last."""

FIRST = 20


class ToolCall(Record, frozen=True):
    """A tool that the model called; `id` joins it to its result."""

    name: str
    id: str
    arguments: Pieces


class Said(Record, frozen=True):
    """One message. `answers` is the id of the call whose result it is; `left_out` messages come before it."""

    role: str
    pieces: Pieces
    reasoning: Pieces
    calls: list[ToolCall]
    answers: str = ""
    name: str = ""
    left_out: int = 0


def said_in(body: Body, spans: Sequence[str]) -> list[Said]:
    """The messages of a trial; `spans` are what its scorers took as the answer, marked in the last answer."""
    messages = body.messages or _asked_and_answered(body.exchanges)
    reasoning = dict(_reasoning(body.exchanges)) if body.messages else {}
    numbered = list(enumerate(messages))
    left_out = max(0, len(messages) - MOST_MESSAGES)
    kept = numbered[:FIRST] + numbered[FIRST + left_out :] if left_out else numbered
    last = max((place for place, one in kept if one.get("role") == "assistant"), default=-1)
    return [
        _said(
            message,
            reasoning.get(place, ""),
            spans if place == last else (),
            left_out if place == FIRST + left_out else 0,
        )
        for place, message in kept
    ]


def said_last(body: Body) -> bool:
    """Whether the answer of a trial is among its messages, so that it need not be shown by itself."""
    if not body.answer:
        return True
    said = (content_text(one.get("content")) for one in body.messages if one.get("role") == "assistant")
    return any(body.answer in text for text in said)


def _asked_and_answered(exchanges: Sequence[ExchangeBody]) -> list[Message]:
    """What was sent last and the answer to it, where a trial tells no messages of its own."""
    if not exchanges or not isinstance(exchanges[-1].sent, list):
        return []
    answer = answer_of(exchanges[-1])
    return [*exchanges[-1].sent, *([] if answer is None else [answer])]


def answer_of(exchange: ExchangeBody) -> Message | None:
    """The message of a response, None where it has none."""
    try:
        message = msgspec.json.decode(exchange.response)["choices"][0]["message"]
    except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError):
        return None
    return message if isinstance(message, dict) else None


def _reasoning(exchanges: Sequence[ExchangeBody]) -> Iterator[tuple[int, str]]:
    """(place of the answer among the messages, what was thought before it)."""
    for exchange in exchanges:
        if not isinstance(exchange.sent, int):
            continue
        answer = answer_of(exchange) or {}
        thought = next((answer[name] for name in REASONING if isinstance(answer.get(name), str)), "")
        if not thought and isinstance(answer.get("content"), str):
            thought, _ = split_reasoning(answer["content"])
        if thought.strip():
            yield exchange.sent, thought


def _said(message: Message, reasoning: str, spans: Sequence[str], left_out: int) -> Said:
    text = content_text(message.get("content"))
    thought = reasoning
    if message.get("role") == "assistant":
        own = next((message[name] for name in REASONING if isinstance(message.get(name), str)), "")
        inline, text = split_reasoning(text)
        thought = thought or own or inline
    span = next((found for span in spans if (found := find_span(text, span)) is not None), None)
    calls = message.get("tool_calls")
    return Said(
        role=str(message.get("role"))[:40],
        pieces=cut(text, LONGEST, span),
        reasoning=cut(thought, LONGEST),
        calls=[_call(call) for call in calls] if isinstance(calls, list) else [],
        answers=str(message.get("tool_call_id") or ""),
        name=str(message.get("name") or "")[:100],
        left_out=left_out,
    )


def _call(call: Any) -> ToolCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return ToolCall("?", "", cut(pretty(call), LONGEST))
    arguments = function.get("arguments")
    text = pretty_text(arguments) if isinstance(arguments, str) else pretty(arguments)
    return ToolCall(str(function.get("name"))[:100], str(call.get("id") or ""), cut(text, LONGEST))


def pretty(value: Any) -> str:
    """A value as indented JSON."""
    return msgspec.json.format(encode_json(value), indent=2).decode("utf-8", "replace")


def pretty_text(text: str) -> str:
    """Text that is JSON, indented; other text as it is."""
    try:
        return msgspec.json.format(text, indent=2)
    except msgspec.DecodeError:
        return text
