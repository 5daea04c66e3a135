"""A chat completion on its way to a program that uses another dialect."""

from __future__ import annotations

import asyncio

from benchwright.endpoint.accumulator import MALFORMED_RESPONSE_ERRORS
from benchwright.endpoint.connection import Connection
from benchwright.endpoint.connection import Headers as AnswerHeaders
from benchwright.endpoint.dialects import AnswerTranslator
from benchwright.endpoint.dialects.chat_answer import read_answer
from benchwright.endpoint.dialects.event_encoders import EVENT_STREAM
from benchwright.endpoint.failures import error_from_response
from benchwright.endpoint.json_reading import read_json
from benchwright.endpoint.meter import DONE_MARKER
from benchwright.endpoint.relay.relayed_answer import NO_RETRY_HEADER, RelayedAnswer
from benchwright.endpoint.serving.http import HttpError
from benchwright.endpoint.simulation_marks import SIMULATED_HEADER
from benchwright.endpoint.sse import EventStream, EventTooLarge

KEEP_ALIVE_SECONDS = 10.0
"""Seconds of silence after which a keep-alive is sent in a stream, even if the target's response has not begun."""


class TranslatedAnswer:
    """A receiver that translates each piece into the program's dialect as soon as the piece arrives.

    If the program requested a stream, it gets a stream even if the target sends a whole body. Otherwise the
    program would retry. While nothing arrives, keep-alives are sent in the stream.
    """

    def __init__(self, answer: RelayedAnswer, translation: AnswerTranslator, stream: bool) -> None:
        self._answer = answer
        self._translation = translation
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._begun = False
        self._said_at = self._loop.time()
        self._alarm = self._loop.call_later(KEEP_ALIVE_SECONDS, self._keep_alive) if stream else None
        self._events: EventStream | None = None
        self._announced = False
        self._broken = False
        self._status = 0
        self._headers: AnswerHeaders = []
        self._body = bytearray()

    def set_connection(self, connection: Connection) -> None:
        """Store the connection to the target, so that it can be paused while the program is not reading."""
        self._answer.set_connection(connection)

    def receive_head(self, status: int, headers: AnswerHeaders) -> None:
        """Find out whether the target sends a stream.

        The response to the program begins only with the first chunk, because that chunk may carry a
        simulator's mark.
        """
        self._status, self._headers, self._body = status, headers, bytearray()
        kind = next((value for name, value in headers if name == b"content-type"), b"")
        if status == 200 and kind.lower().startswith(EVENT_STREAM):
            self._events = EventStream()

    def receive_data(self, chunk: bytes) -> None:
        """Translate a piece of the body, and pass the result on."""
        if self._events is None:
            self._body += chunk
        elif not self._broken:
            try:
                said = b"".join([self._said(data) for data in self._events.feed(chunk)])
            except (*MALFORMED_RESPONSE_ERRORS, EventTooLarge) as error:
                self._broken = True
                self._begin()
                said = self._translation.fail(
                    f"A piece of the stream is not a chat completion chunk: {error}"
                )
            self._say(said)

    def complete(self) -> None:
        """Complete the response."""
        if self._alarm is not None:
            self._alarm.cancel()
        if self._events is not None:
            if not self._broken:
                self._begin()
                error = self._events.error.decode("utf-8", "replace")
                self._say(self._translation.fail(error) if error else self._translation.end(self._announced))
            self._answer.complete()
        elif self._status != 200:
            self._refuse()
        else:
            self._whole()

    def _begin(self) -> None:
        """Begin the stream to the program, if it has not begun yet."""
        if not self._begun:
            self._begun = True
            kind = (b"content-type", self._translation.content_type)
            marks = [header for header in self._headers if header[0].endswith(SIMULATED_HEADER)]
            self._answer.receive_head(200, [kind, (b"cache-control", b"no-cache"), *marks])
            self._answer.last_words = self._translation.fail
            self._say(self._translation.begin())

    def _say(self, events: bytes) -> None:
        if events:
            self._said_at = self._loop.time()
            self._answer.receive_data(events)

    def _keep_alive(self) -> None:
        """Send a keep-alive if the stream was silent for `KEEP_ALIVE_SECONDS`, and schedule the next check."""
        if self._answer.is_over:
            return
        if self._loop.time() - self._said_at >= KEEP_ALIVE_SECONDS:
            self._begin()
            self._say(self._translation.keep_alive)
        self._alarm = self._loop.call_at(self._said_at + KEEP_ALIVE_SECONDS, self._keep_alive)

    def _said(self, data: bytes) -> bytes:
        if data.rstrip() == DONE_MARKER:
            self._announced = True
        elif data and not self._announced:
            chunk = read_json(data)
            if not self._begun:
                self._translation.mark_if_simulated(chunk)
                self._begin()
            return self._translation.translate_chunk(chunk)
        return b""

    def _whole(self) -> None:
        try:
            body = read_json(bytes(self._body))
            if self._stream:
                answer = read_answer(body)
                self._translation.mark_if_simulated(body)
                self._begin()
                self._say(self._translation.remaining_events(answer))
                self._answer.complete()
            else:
                self._answer.send_complete_response(self._translation.translate_body(body))
        except MALFORMED_RESPONSE_ERRORS:
            self._answer.send_error(
                HttpError(502, "The target's answer is not a chat completion.", "upstream_error")
            )

    def _refuse(self) -> None:
        """Send the target's error, translated into the dialect.

        In place of a redirection, the relay sends an error of its own.
        """
        if 300 <= self._status < 400:
            return
        error = error_from_response(self._status, self._headers, bytes(self._body), "The target", "")
        kept = [(name, value) for name, value in self._headers if name == b"retry-after"]
        headers = (NO_RETRY_HEADER, *kept)
        self._answer.send_error(HttpError(self._status, str(error), "upstream_error", headers=headers))
