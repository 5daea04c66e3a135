"""Parses the messages of a trial for display: separates reasoning and tool calls, and finds the extracted answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from benchwright.analysis.report.text_pieces import find_span
from benchwright.endpoint.reasoning_parser import split_reasoning
from benchwright.engine.answers import content_text
from benchwright.records import DECODE_ERRORS, Message, Record
from benchwright.runs.journal import ExchangeBody, TrialBody, encode_json

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Names of the message fields in which servers send the model's reasoning."""


class ParsedCall(Record, frozen=True):
    """A tool call of the model. `id` links the call to its result. A call of unknown shape is named `?`."""

    name: str
    id: str
    arguments: str


class ParsedMessage(Record, frozen=True):
    """One message. `answer_span` is the position of the extracted answer in its text."""

    message: Message
    role: str
    text: str
    reasoning: str
    calls: list[ParsedCall]
    answer_span: tuple[int, int] | None = None


def parse_messages(
    body: TrialBody, spans: Sequence[str], first: int, most: int
) -> tuple[list[ParsedMessage], int]:
    """Return the first and last messages of a trial, `most` in all.

    Also return the number of messages omitted between them. `first` messages are from the beginning. `spans`
    are the answers that the scorers extracted. They are searched for in the model's last message.
    """
    messages = body.messages or body.unanswered or _asked_and_answered(body.exchanges)
    reasoning = dict(_reasoning(body.exchanges)) if body.messages else {}
    left_out = max(0, len(messages) - most)
    numbered = list(enumerate(messages))
    kept = numbered[:first] + numbered[first + left_out :] if left_out else numbered
    last = max((place for place, message in kept if message.get("role") == "assistant"), default=-1)
    told = [
        _parse_message(message, reasoning.get(place, ""), spans if place == last else ())
        for place, message in kept
    ]
    return told, left_out


def _asked_and_answered(exchanges: Sequence[ExchangeBody]) -> list[Message]:
    """Return the messages of a trial's last request, followed by the answer to it.

    This is used if no conversation is stored.
    """
    if not exchanges or not isinstance(exchanges[-1].sent, list):
        return []
    answer = _answer(exchanges[-1])
    return [*exchanges[-1].sent, *([] if answer is None else [answer])]


def _answer(exchange: ExchangeBody) -> Message | None:
    """Return the message in a response. None if the response has no message."""
    try:
        answer = msgspec.json.decode(exchange.response)["choices"][0]["message"]
    except (*DECODE_ERRORS, LookupError, TypeError):
        return None
    return answer if isinstance(answer, dict) else None


def _reasoning(exchanges: Sequence[ExchangeBody]) -> Iterator[tuple[int, str]]:
    """Yield, for each answer, its index among the messages and the reasoning that preceded it."""
    for exchange in exchanges:
        if isinstance(exchange.sent, int) and (answer := _answer(exchange)) is not None:
            thought, _ = _apart(answer, content_text(answer.get("content")))
            if thought:
                yield exchange.sent, thought


def _apart(answer: Message, text: str, thought: str = "") -> tuple[str, str]:
    """Return (reasoning, answer proper) of a model's message whose text is `text`.

    The reasoning is `thought`, if it is known. Otherwise it is from the message's fields, or else from the
    text. Reasoning that is only in the text stays in the answer proper if it is not part of the returned
    reasoning.
    """
    inline, rest = split_reasoning(text)
    fields = (answer.get(name) for name in REASONING_FIELDS)
    own = next((field for field in fields if isinstance(field, str) and field.strip()), "")
    thought = thought or own or inline
    return thought, rest if inline in thought else text


def _parse_message(message: Message, thought: str, spans: Sequence[str]) -> ParsedMessage:
    text = content_text(message.get("content"))
    if message.get("role") == "assistant":
        thought, text = _apart(message, text, thought)
    calls = message.get("tool_calls")
    return ParsedMessage(
        message,
        role=str(message.get("role"))[:40],
        text=text,
        reasoning=thought,
        calls=[_parse_call(call) for call in calls] if isinstance(calls, list) else [],
        answer_span=next((found for span in spans if (found := find_span(text, span)) is not None), None),
    )


def _parse_call(call: Any) -> ParsedCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return ParsedCall("?", "", json_text(call))
    arguments = function.get("arguments")
    return ParsedCall(
        str(function.get("name"))[:100],
        str(call.get("id") or ""),
        arguments if isinstance(arguments, str) else json_text(arguments),
    )


def json_text(value: Any) -> str:
    """Encode a value as JSON."""
    return encode_json(value).decode(errors="replace")
