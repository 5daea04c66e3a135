"""Translation of a chat completion's answer into another dialect."""

from __future__ import annotations

from functools import cached_property
from secrets import token_hex
from typing import Any

import msgspec

from benchwright.endpoint.dialects.chat_answer import (
    AnswerPart,
    AnswerStream,
    ChatAnswer,
    part_steps,
    read_answer,
)
from benchwright.endpoint.dialects.dialect_table import AnswerWriter, Dialect, Event
from benchwright.endpoint.simulation_marks import SIMULATED_MARK, is_simulated

_encode = msgspec.json.Encoder().encode


class AnswerTranslator:
    """Translation of one chat completion's answer into a dialect.

    `asked`: the original request, in that dialect. `content_type`: the content type of a stream.
    """

    def __init__(self, dialect: Dialect, asked: dict[str, Any], identity: str = "") -> None:
        self.keep_alive = dialect.keep_alive_event
        self._dialect = dialect
        self._asked = asked
        self._identity = identity or token_hex(12)
        self._frames = dialect.make_event_encoder(asked)
        self._stream = AnswerStream()
        self._failed = False
        self.content_type = self._frames.content_type

    @cached_property
    def _writer(self) -> AnswerWriter:
        model = self._asked.get("model")
        return self._dialect.make_writer(self._identity, model if isinstance(model, str) else "", self._asked)

    def mark_if_simulated(self, answer: dict[str, Any]) -> None:
        """Mark the translated answer as simulated if `answer`, a chat completion or a chunk, has the mark.

        Must be called before the first event.
        """
        if is_simulated(answer) and SIMULATED_MARK not in self._identity:
            self._identity = f"{SIMULATED_MARK}-{self._identity}"

    def begin(self) -> bytes:
        """Return the first events of a stream."""
        return self._frames.encode(self._writer.begin())

    def translate_chunk(self, chunk: dict[str, Any]) -> bytes:
        """Return the events for a chunk of the chat completion. Return b"" if the chunk yields no events.

        Raises:
            KeyError, TypeError, AttributeError: If the chunk is not a chunk of a chat completion.
        """
        steps = self._stream.read_chunk(chunk)
        if self._stream.error is not None and not self._failed:
            error = self._stream.error
            code = error.get("code")
            status = code if type(code) is int and 400 <= code < 600 else 500
            return self.fail(str(error.get("message") or error), status)
        return (
            self._frames.encode([event for step in steps for event in self._writer.write_answer_step(step)])
            if steps
            else b""
        )

    def end(self, announced: bool) -> bytes:
        """Return the last events of a stream.

        A stream was broken off if its end was not `announced` and the answer has no finish reason. In that
        case the last event is an error.
        """
        if self._failed:
            return b""
        if not announced and self._stream.answer.finish_reason is None:
            return self.fail("The stream ended before the answer did.")
        events = [event for step in self._stream.finish() for event in self._writer.write_answer_step(step)]
        return self._last([*events, *self._writer.end(self._stream.answer)])

    def fail(self, message: str, status: int = 500) -> bytes:
        """Return the event that ends a stream with an error.

        `status`: the HTTP status that the error would have had in a response without a stream.
        """
        self._failed = True
        return self._last(self._writer.fail(message, status))

    def translate_body(self, body: dict[str, Any]) -> bytes:
        """Return the translated body of a chat completion that was not streamed.

        Raises:
            KeyError, TypeError, IndexError, AttributeError: If the body is not a chat completion.
        """
        self.mark_if_simulated(body)
        return _encode(self._writer.write_body(read_answer(body)))

    def remaining_events(self, answer: ChatAnswer) -> bytes:
        """Return all events of a stream that follow the events of `begin`, for a complete answer."""
        events: list[Event] = []
        for part in answer.parts:
            for step in part_steps(part):
                events += self._writer.write_answer_step(step)
        return self._last([*events, *self._writer.end(answer)])

    def encode_message(self, text: str, stream: bool) -> bytes:
        """Return a message from Benchwright itself, encoded as an answer: one body, or all events of a stream."""
        answer = ChatAnswer([AnswerPart("text", text)], "stop")
        return (
            self.begin() + self.remaining_events(answer)
            if stream
            else _encode(self._writer.write_body(answer))
        )

    def _last(self, events: list[Event]) -> bytes:
        return self._frames.encode(events) + self._frames.encode_end()
