"""The meter: a sink that times a response while it arrives, and parses it a little later.

The first token is the first non-empty piece on any channel: reasoning, answer, tool call or refusal. Chunks
that hold only a role, usage or a finish reason do not count. The clock starts when the request is handed to
the socket. All other times are arrival times of bytes. Parsing waits until several pieces have arrived. If
the pieces were parsed one by one, with the processor asleep in between, parsing would cost several times as
much.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from benchwright.endpoint.accumulator import MALFORMED_RESPONSE_ERRORS, ResponseAccumulator
from benchwright.endpoint.connection import Headers
from benchwright.endpoint.dialects import ResponseReader
from benchwright.endpoint.json_reading import join_surrogates_in_json, read_json
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.simulation_marks import SIMULATED_HEADER
from benchwright.endpoint.sse import EventStream, EventTooLarge, choose_parser
from benchwright.records import DECODE_ERRORS
from benchwright.stats.histogram import bucket_of

DONE_MARKER = b"[DONE]"
"""Data of the event with which a stream announces its end."""

MAX_UNREAD_PIECES = 32
LARGE_PIECE_BYTES = 16 * 1024
"""`MAX_UNREAD_PIECES`: number of waiting pieces of a stream at which all of them are parsed.

`LARGE_PIECE_BYTES`: size in bytes of a piece at which all waiting pieces are parsed, however few they are.
"""

STREAM_CONTENT_TYPES = (
    b"text/event-stream",
    b"application/x-ndjson",
    b"application/jsonl",
    b"application/stream+json",
)
"""Content types of streams: server-sent events, or JSON lines."""

EVENT_PREFIXES = (b"data:", b"event:", b"error:", b"retry:", b"id:", b":")
"""Prefixes with which a server-sent event can begin.

JSON cannot begin with any of them. So a body that begins with one of them is parsed as a stream, even if its
content type says otherwise.
"""

BROKEN_OFF_REASONS = frozenset(
    {"error", "abort", "aborted", "cancelled", "canceled", "network_error", "insufficient_system_resource"}
)
"""Finish reasons with which servers (vLLM, SGLang, Mistral, GLM, DeepSeek) report that a response broke off."""

MAX_EXCERPT_BYTES = 80
"""Number of bytes of an unreadable body that the error message quotes."""

_LINES = re.compile(rb"\s*\{.*\}\s*\n\s*\{")
"""Matches the beginning of a body in the format JSON lines."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class BadAnswer(ValueError):
    """Raised if a body is not a response of an OpenAI-compatible endpoint."""


class EmptyStream(BadAnswer):
    """Raised if a stream holds no event.

    Some servers end a stream like this when they cannot start to answer.
    """


class AnswerMeter:
    """A sink that measures and parses one response, streamed or whole.

    The response is one of /chat/completions or /completions, or of the dialect of `reader`. Pieces are parsed
    with a delay. Until `parse_waiting_pieces` or `finish_reply` is called, all attributes except status and
    headers describe only the pieces that have been parsed.
    """

    def __init__(self, reader: ResponseReader | None = None) -> None:
        self._reader = reader
        self.status = 0
        self.headers: Headers = []
        self.streamed = False
        self.first_token_at = 0
        self.last_token_at = 0
        self.chunks = 0
        self.gaps: dict[int, int] = {}
        self.flags: list[str] = []
        self._assembly = ResponseAccumulator()
        self._events: EventStream | None = None
        self._pieces: list[bytes] = []
        self._arrived: list[int] = []
        self._size = 0
        self._begun_at = 0
        self._read_at = 0
        self._done = False
        self._is_marked = False
        self._failure: BadAnswer | None = None

    # Sink interface

    def receive_head(self, status: int, headers: Headers, at: int) -> None:
        """Store the status and the headers. Find out from them whether the response is a stream.

        Raises:
            BadAnswer: If the body is compressed.
        """
        self.status, self.headers = status, headers
        for name, value in headers:
            if name == b"content-type":
                self.streamed = status == 200 and value.lower().startswith(STREAM_CONTENT_TYPES)
            elif name.endswith(SIMULATED_HEADER):
                self._is_marked = True
            elif status == 200 and name == b"content-encoding" and value.lower() not in (b"identity", b""):
                raise BadAnswer(
                    f"the server compressed its answer ({value.decode('latin-1')}) without being asked to"
                )

    def receive_data(self, chunk: bytes, at: int) -> None:
        """Store a piece of the body, to be parsed now or later."""
        self._size += len(chunk)
        if not self.streamed and not self._begun_at and not chunk.isspace():
            self._begun_at = at
            if self.status == 200 and chunk.lstrip().startswith(EVENT_PREFIXES):
                self.streamed = True
                self.flags.append("not_called_a_stream")
        self._pieces.append(chunk)
        self._arrived.append(at)
        if self.streamed and (len(self._pieces) == MAX_UNREAD_PIECES or len(chunk) >= LARGE_PIECE_BYTES):
            self.parse_waiting_pieces()
            self._raise_failure()

    def last_token_time(self) -> int:
        """Return the arrival time of the last token. Return 0 before the first token.

        The first byte of a response that is not streamed counts as its only token.
        """
        if not self.streamed:
            return self._begun_at
        self.parse_waiting_pieces()
        return self.last_token_at

    # Parsing

    def parse_waiting_pieces(self) -> None:
        """Parse those pieces of the stream that have not been parsed yet.

        After a malformed chunk, a flag is set and no further piece is parsed.
        """
        if not self.streamed:
            return
        pieces, arrived = self._pieces, self._arrived
        self._pieces, self._arrived = [], []
        if not pieces:
            return
        if self._events is None:
            self._events = choose_parser(b"".join(pieces))
        self._read_at = arrived[-1]
        try:
            for piece, at in zip(pieces, arrived, strict=True):
                if self._failure is None:
                    self._take(self._events, piece, at)
        except (*MALFORMED_RESPONSE_ERRORS, EventTooLarge) as error:
            self.flags.append("malformed_chunk")
            self._failure = BadAnswer(f"a piece of the stream is not a chat completion chunk: {error}")

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _take(self, events: EventStream, piece: bytes, at: int) -> None:
        assembly = self._assembly
        pattern = assembly.pattern
        if pattern is not None and events.is_idle and (texts := pattern.read_texts(piece)):
            assembly.take_texts(pattern.field, texts, at)
            self._take_tokens(len(texts), at)
            return
        for data in events.feed(piece):
            if not data or (self._done and self._reader is None):
                continue
            if data.startswith(DONE_MARKER) and data.rstrip() == DONE_MARKER:
                self._done, assembly.pattern = True, None
            elif self._reader is not None:
                if assembly.take_decoded_chunk(self._reader.read_event(self._event(data)), at):
                    self._take_tokens(1, at)
                self._done = self._reader.is_done
            elif (pattern := assembly.pattern) is not None and (text := pattern.read_text(data)):
                assembly.take_texts(pattern.field, [text], at)
                self._take_tokens(1, at)
            elif assembly.take_chunk(data, at):
                self._take_tokens(1, at)

    def _event(self, data: bytes) -> Any:
        """Return a dialect's event, decoded. If it is not strict JSON, it is decoded leniently."""
        try:
            return _decode(data)
        except DECODE_ERRORS:
            self._assembly.pieces.is_lenient = True
            return read_json(data)

    def _take_tokens(self, chunks: int, at: int) -> None:
        """Record the arrival of chunks with tokens.

        The gap between two chunks that arrived together is 0.
        """
        self.chunks += chunks
        if self.first_token_at:
            slot = bucket_of(at - self.last_token_at)
            self.gaps[slot] = self.gaps.get(slot, 0) + 1
        else:
            self.first_token_at = at
        if chunks > 1:
            self.gaps[0] = self.gaps.get(0, 0) + chunks - 1
        self.last_token_at = at

    # Result

    @property
    def has_announced_end(self) -> bool:
        """True if the stream has announced its end. Then only the end of the transfer may be missing."""
        self.parse_waiting_pieces()
        return self._done

    @property
    def error(self) -> dict[str, Any] | None:
        """The error that the response holds instead of an answer; None if the response holds no error."""
        return self._assembly.error

    @property
    def body(self) -> bytes:
        """The whole body of a response that was not streamed."""
        return b"".join(self._pieces)

    @property
    def is_simulated(self) -> bool:
        """True if the pieces parsed so far show that a simulated server answered."""
        return self._is_marked or self._assembly.is_simulated

    def finish_reply(self) -> Reply:
        """Return the response. It is empty if `error` holds an error.

        Raises:
            BadAnswer: If the body is not a response, or if the stream broke off before it announced its end.
        """
        try:
            if self.streamed:
                return self._finish_stream()
            try:
                return self._finish_whole(self.body)
            except DECODE_ERRORS:
                if not _LINES.match(self.body):
                    raise
            return self._finish_lines()
        except MALFORMED_RESPONSE_ERRORS as error:
            began = self.body[:MAX_EXCERPT_BYTES].decode("utf-8", "replace").strip()
            what = f"begins with {began!r}" if began else "is empty"
            raise BadAnswer(f"the answer is not a chat completion but {what} ({error})") from None

    def _finish_stream(self) -> Reply:
        self.parse_waiting_pieces()
        events = self._events or EventStream()
        if events.end_bytes:
            self._pieces, self._arrived = [events.end_bytes], [self._read_at]
            self.parse_waiting_pieces()
        self._raise_failure()
        self._assembly.detect_stream_error(named_error=events.named_error, error=events.error)
        if not self.error:
            self._check_end()
            self._check_reason()
        return self._reply(None)

    def _finish_whole(self, body: bytes) -> Reply:
        if self._reader is not None:
            answer = self._reader.read_body(self._event(body))
            body = _encode(join_surrogates_in_json(answer) if self._assembly.pieces.is_lenient else answer)
        self._assembly.take_whole_body(body)
        if not self.error:
            self._check_reason()
        return self._reply(body)

    def _finish_lines(self) -> Reply:
        """Parse a body of JSON lines like a stream, and return the response.

        All lines count as having arrived with the first byte.
        """
        self.streamed = True
        self.flags.append("not_called_a_stream")
        self._pieces, self._arrived = [self.body], [self._begun_at]
        return self._finish_stream()

    def _reply(self, body: bytes | None) -> Reply:
        pieces = self._assembly.pieces
        reply = pieces.make_reply(body)
        self.flags += pieces.flags
        return reply

    def answer_started_at(self) -> int:
        """Return the arrival time of the answer's first byte. Return 0 if none arrived.

        Reasoning is not part of the answer. A tool call is.
        """
        return self._assembly.pieces.answer_started_at()

    def tokens_after_first(self, reply: Reply) -> int | None:
        """Return the number of tokens after the first piece of a stream. Return None if nothing was streamed.

        The server's count is used, minus the reasoning tokens that the server counted but did not send. If
        the server sent no count, each piece counts as one token. If there are more tokens than pieces, the
        tokens of the first piece are estimated from its share of the text.
        """
        if not self.first_token_at:
            return None
        usage = reply.usage
        tokens = usage.completion_tokens or self.chunks
        if usage.completion_tokens and usage.reasoning_tokens:
            sent = self._assembly.pieces.estimate_sent_reasoning(usage.reasoning_tokens, reply)
            tokens -= usage.reasoning_tokens - sent
        share = self._assembly.pieces.first_piece_share() if tokens > self.chunks else 0.0
        return max(0, tokens - max(1, round(tokens * share)))

    def _check_end(self) -> None:
        if not self._done:
            self.flags.append("no_done")
        if not self._size:
            raise EmptyStream("the stream was empty")
        if self._assembly.pieces.finish_reason is None and not self._done:
            raise BadAnswer("the stream ended before the answer did")
        if self._assembly.pieces.finish_reason is None and not self.chunks:
            raise BadAnswer("the stream held no answer")

    def _check_reason(self) -> None:
        reason = self._assembly.pieces.finish_reason
        if reason is not None and reason.lower() in BROKEN_OFF_REASONS:
            raise BadAnswer(f"the server broke the answer off (finish reason {reason})")
