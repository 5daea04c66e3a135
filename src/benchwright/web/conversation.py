"""A trial's conversation as shown on a page: messages, reasoning, tool calls, and the marked answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import msgspec

from benchwright.analysis.report.messages import ParsedMessage, json_text, parse_messages
from benchwright.analysis.report.records import TextPieces
from benchwright.analysis.report.text_pieces import shorten_to_pieces
from benchwright.engine.answers import content_text
from benchwright.pictures import find_pictures
from benchwright.records import DECODE_ERRORS, Record
from benchwright.runs.journal import TrialBody
from benchwright.runs.pictures import picture_name
from benchwright.web.text import MAX_PAGE_TEXT_LENGTH

MAX_MESSAGES = 400
"""Maximum number of messages shown. These are the first `FIRST_MESSAGES_SHOWN` messages, and then the last ones."""

FIRST_MESSAGES_SHOWN = 20

MAX_PICTURES = 40
MAX_PIXELS = 50_000_000
"""`MAX_PICTURES`: maximum number of images shown per message.

`MAX_PIXELS`: maximum number of pixels of an image that is shown. Each pixel takes four bytes in a browser.
"""


class ToolCallView(Record, frozen=True):
    """A tool call in a message. `id`: the identifier by which the result of the call refers to the call."""

    name: str
    id: str
    arguments: TextPieces


class PictureView(Record, frozen=True):
    """An image in a message: the name of the image's file in the run, its description, and its size in pixels."""

    name: str
    description: str
    width: int
    height: int


class MessageView(Record, frozen=True):
    """One message of a conversation, as shown on a page.

    `answered_call_id`: the id of the tool call whose result the message is. `omitted_count`: the number of
    hidden messages before it.
    """

    role: str
    pieces: TextPieces
    reasoning: TextPieces
    calls: list[ToolCallView]
    answered_call_id: str = ""
    name: str = ""
    omitted_count: int = 0
    pictures: list[PictureView] = []


def message_views(body: TrialBody, spans: Sequence[str]) -> list[MessageView]:
    """Return the messages of a trial for display.

    `spans`: the extracted answers, which are marked in the last message of the model.
    """
    parsed, left_out = parse_messages(body, spans, FIRST_MESSAGES_SHOWN, MAX_MESSAGES)
    return [
        _message_view(message, left_out if place == FIRST_MESSAGES_SHOWN else 0)
        for place, message in enumerate(parsed)
    ]


class Turn(Record, frozen=True):
    """One message of the model, together with the results of its tool calls. `number` counts from 1.

    `preceding_messages`: messages of others before the model's message. `model_message`: the model's message. It is
    None in a last turn that holds only messages after the model's last message. `results`: a list of results for each
    tool call.
    """

    number: int
    preceding_messages: list[MessageView]
    model_message: MessageView | None = None
    results: list[list[MessageView]] = []

    @property
    def called_tools(self) -> list[str]:
        """The names of the tools that the model called in this turn, each once."""
        return (
            list(dict.fromkeys(call.name for call in self.model_message.calls)) if self.model_message else []
        )


def turns_of(messages: Sequence[MessageView]) -> list[Turn]:
    """Split a conversation into turns of the model. Each result of a tool is put with its tool call."""
    turns: list[Turn] = []
    heard: list[MessageView] = []
    for message in messages:
        if message.role == "assistant":
            turns.append(Turn(len(turns) + 1, heard, message, [[] for _ in message.calls]))
            heard = []
        elif (results := _results_for(message, turns)) is not None and not heard:
            results.append(message)
        else:
            heard.append(message)
    return [*turns, Turn(len(turns) + 1, heard)] if heard else turns


def _results_for(message: MessageView, turns: Sequence[Turn]) -> list[MessageView] | None:
    """Return the list of results of the tool call that this message answers.

    Return None if the message is not a tool message, or if it answers no call of the last turn.
    """
    last = turns[-1] if turns else None
    if last is None or last.model_message is None or message.role != "tool":
        return None
    places = [
        place for place, call in enumerate(last.model_message.calls) if call.id == message.answered_call_id
    ]
    return last.results[places[0]] if places else None


def is_answer_shown(body: TrialBody) -> bool:
    """Return True if the answer of a trial is empty or appears in its messages. It then needs no separate display."""
    if not body.answer:
        return True
    texts = (content_text(one.get("content")) for one in body.messages if one.get("role") == "assistant")
    return any(body.answer in text for text in texts)


def _message_view(message: ParsedMessage, left_out: int) -> MessageView:
    calls = [
        ToolCallView(
            call.name, call.id, shorten_to_pieces(indent_if_json(call.arguments), MAX_PAGE_TEXT_LENGTH)
        )
        for call in message.calls
    ]
    return MessageView(
        role=message.role,
        pieces=shorten_to_pieces(message.text, MAX_PAGE_TEXT_LENGTH, message.answer_span),
        reasoning=shorten_to_pieces(message.reasoning, MAX_PAGE_TEXT_LENGTH),
        calls=calls,
        answered_call_id=str(message.message.get("tool_call_id") or ""),
        name=str(message.message.get("name") or "")[:100],
        omitted_count=left_out,
        pictures=_pictures(message.message.get("content")),
    )


def _pictures(content: Any) -> list[PictureView]:
    """Return the first images of a message. Images that are too large are left out."""
    seen = (one for one in find_pictures(content) if one[1].width * one[1].height <= MAX_PIXELS)
    found = islice(seen, MAX_PICTURES)
    named = [(picture_name(url), picture) for url, picture in found]
    return [PictureView(name, str(one), one.width, one.height) for name, one in named if name is not None]


def indented_json(value: Any) -> str:
    """Return a value as indented JSON."""
    return indent_if_json(json_text(value))


def indent_if_json(text: str) -> str:
    """Return a text. If the text is JSON, it is indented."""
    try:
        return msgspec.json.format(text, indent=2)
    except DECODE_ERRORS:
        return text
