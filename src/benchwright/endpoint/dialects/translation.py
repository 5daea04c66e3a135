"""A dialect as a whole, and the translation of one answer into it."""

from __future__ import annotations

from collections.abc import Callable
from secrets import token_hex
from typing import Any, NamedTuple, Protocol

import msgspec

from benchwright.endpoint.dialects.answer import AnswerStream, ChatAnswer, Part, Step, steps_of, whole_answer
from benchwright.endpoint.dialects.messages import answer as messages_answer
from benchwright.endpoint.dialects.messages import reading as messages_reading
from benchwright.endpoint.dialects.messages import request as messages_request
from benchwright.endpoint.dialects.responses import answer as responses_answer
from benchwright.endpoint.dialects.responses import reading as responses_reading
from benchwright.endpoint.dialects.responses import request as responses_request

Event = dict[str, Any]

_encode = msgspec.json.Encoder().encode


class Writer(Protocol):
    """Writes one answer in its dialect, as a whole or as the events of a stream."""

    def whole(self, answer: ChatAnswer) -> dict[str, Any]:
        """The body of an answer that is not streamed."""
        ...

    def begin(self) -> list[Event]:
        """The first events of a stream."""
        ...

    def tell(self, step: Step) -> list[Event]:
        """The events of a step."""
        ...

    def end(self, answer: ChatAnswer) -> list[Event]:
        """The last events: why it ended, and its tokens."""
        ...

    def fail(self, message: str) -> list[Event]:
        """The event of a stream that breaks off."""
        ...


class Reader(Protocol):
    """Reads one answer of its dialect as chat completions; `done` is whether the stream has told its end."""

    done: bool

    def whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body of a chat completion that says the same."""
        ...

    def chunk(self, event: dict[str, Any]) -> dict[str, Any]:
        """The chunk that says what an event does; an empty one where it says nothing of the answer."""
        ...


class Dialect(NamedTuple):
    """A way to ask a model: its path below the base URL, its requests as chat completions, its answers.

    `settings` are the names under which it has what a target's settings say; what it has no name for is left out.
    `keep_alive` goes into a stream that has nothing to say for a while.
    """

    name: str
    path: str
    chat_request: Callable[[dict[str, Any]], dict[str, Any]]
    writer: Callable[[str, str, dict[str, Any]], Writer]
    reader: Callable[[], Reader]
    settings: dict[str, str]
    keep_alive: bytes


_SAMPLING = {"temperature": "temperature", "top_p": "top_p"}

MESSAGES = Dialect(
    "messages",
    "/messages",
    messages_request.chat_request,
    messages_answer.MessagesWriter,
    messages_reading.MessagesReader,
    {**_SAMPLING, "top_k": "top_k", "max_tokens": "max_tokens", "max_completion_tokens": "max_tokens"},
    b'event: ping\ndata: {"type":"ping"}\n\n',
)

RESPONSES = Dialect(
    "responses",
    "/responses",
    responses_request.chat_request,
    responses_answer.ResponsesWriter,
    responses_reading.ResponsesReader,
    {**_SAMPLING, "max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"},
    b": keep-alive\n\n",
)

DIALECTS = {dialect.path: dialect for dialect in (MESSAGES, RESPONSES)}
"""The dialects besides chat completions, by their paths."""


class Translation:
    """The translation of one answer; `asked` is the request in its own dialect."""

    def __init__(self, dialect: Dialect, asked: dict[str, Any], identity: str = "") -> None:
        model = asked.get("model")
        self.keep_alive = dialect.keep_alive
        self._writer = dialect.writer(
            identity or token_hex(12), model if isinstance(model, str) else "", asked
        )
        self._stream = AnswerStream()
        self._failed = False

    def begin(self) -> bytes:
        """The first events of a stream."""
        return events_of(self._writer.begin())

    def take(self, chunk: dict[str, Any]) -> bytes:
        """The events that a chunk of the chat completion becomes; b"" for none.

        Raises:
            KeyError, TypeError, AttributeError: it is no such chunk.
        """
        steps = self._stream.take(chunk)
        if self._stream.error is not None and not self._failed:
            return self.fail(str(self._stream.error.get("message") or self._stream.error))
        return events_of([event for step in steps for event in self._writer.tell(step)]) if steps else b""

    def end(self, announced: bool) -> bytes:
        """The last events. A stream that neither `announced` its end nor said why it ends has broken off."""
        if self._failed:
            return b""
        if not announced and self._stream.answer.finish_reason is None:
            return self.fail("The stream ended before the answer did.")
        events = [event for step in self._stream.end() for event in self._writer.tell(step)]
        return events_of([*events, *self._writer.end(self._stream.answer)])

    def fail(self, message: str) -> bytes:
        """The event that says why a stream breaks off."""
        self._failed = True
        return events_of(self._writer.fail(message))

    def whole(self, body: dict[str, Any]) -> bytes:
        """The body of an answer that was not streamed, from that of the chat completion.

        Raises:
            KeyError, TypeError, IndexError, AttributeError: it is not a chat completion.
        """
        return _encode(self._writer.whole(whole_answer(body)))

    def rest(self, answer: ChatAnswer) -> bytes:
        """The events after the first ones, for an answer that is there as a whole."""
        events: list[Event] = []
        for part in answer.parts:
            for step in steps_of(part):
                events += self._writer.tell(step)
        return events_of([*events, *self._writer.end(answer)])

    def said(self, text: str, stream: bool) -> bytes:
        """An answer of our own: a body, or all events of a stream."""
        answer = ChatAnswer([Part("text", text)], "stop")
        return self.begin() + self.rest(answer) if stream else _encode(self._writer.whole(answer))


def events_of(events: list[Event]) -> bytes:
    """Events as they go over the wire."""
    return b"".join(
        [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), _encode(event)) for event in events]
    )
