"""The response accumulator: builds a response from the chunks of a stream, or from a whole JSON body."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.endpoint.json_reading import read_json
from benchwright.endpoint.message_content import read_content
from benchwright.endpoint.reasoning_parser import THOUGHT_FIELDS, is_marked_thought, read_thought
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.response_parts import ResponseParts
from benchwright.endpoint.simulation_marks import is_simulated
from benchwright.endpoint.sse import EventPattern, learn_pattern
from benchwright.endpoint.text_channel import SHORTEST, TextChannel
from benchwright.records import DECODE_ERRORS

MALFORMED_RESPONSE_ERRORS = (
    *DECODE_ERRORS,
    *(AttributeError, TypeError, KeyError, IndexError),
)
"""Exceptions raised while parsing a response that is not JSON, is nested too deeply, or has an unexpected shape."""

MAX_PATTERN_FAILURES = 4
"""Number of consecutive failures after which the accumulator stops learning patterns of events.

A failure is a pattern, learned from one chunk, that the next chunk does not follow.
"""

_decode = msgspec.json.Decoder().decode

_NOTHING: dict[str, Any] = {}

_OURS = (0, None, "0")
"""Values of a chunk's `index` that are read as choice 0, the only choice that was requested."""

_KNOWN_CHUNK = frozenset({"id", "object", "created", "model", "choices", "usage"})
_KNOWN_CHOICE = frozenset({"index", "delta", "message", "text", "finish_reason", "logprobs", "usage"})
_KNOWN_MESSAGE = frozenset({"role", "content", "tool_calls", "refusal", "function_call", *THOUGHT_FIELDS})
_TELLING = ("message", "detail", "errors", "msg")
"""Names of the fields that hold the error message in an event that is not a chunk of a response."""

_TEXTS = frozenset({"content", "reasoning_content", "reasoning"})


class ResponseAccumulator:
    """Accumulator of one response: parses the response, chunk by chunk or as a whole, into `pieces`.

    Methods that take a chunk or body raise one of `MALFORMED_RESPONSE_ERRORS` if the chunk or body is malformed.
    `is_simulated`: True once a chunk carries the mark of a simulated server.
    """

    def __init__(self) -> None:
        self.error: dict[str, Any] | None = None
        self.pattern: EventPattern | None = None
        self.is_simulated = False
        self.pieces = ResponseParts()
        self._tries_left = MAX_PATTERN_FAILURES
        self._content, self._reasoning = self.pieces.content, self.pieces.reasoning
        self._has_calls = False
        self._stray: dict[str, Any] = {}
        self._seen_keys: tuple[str | None, ...] = ()

    # Chunks of a stream

    def take_texts(self, field: str, texts: list[str], at: int) -> None:
        """Add the texts of chunks that follow the learned pattern.

        `field`: the name of the field from which the texts were read. `at`: the arrival time of the texts.
        """
        self._tries_left = MAX_PATTERN_FAILURES
        channel = self._content if field == "content" else self._reasoning
        if len(texts) > 1 and len(texts[-1]) >= SHORTEST:  # it may repeat all text before it
            channel.add_text("".join(texts[:-1]), at)
            channel.add_text(texts[-1], at)
        else:
            channel.texts.append(texts[0] if len(texts) == 1 else "".join(texts))
            channel.times.append(at)

    def take_chunk(self, data: bytes, at: int) -> bool:
        """Add a chunk, given as JSON.

        Return True if the chunk holds a token: non-empty text on any channel (reasoning, answer, call or
        refusal).
        """
        try:
            chunk = _decode(data)
        except DECODE_ERRORS:
            return self._take_odd_chunk(data, at)
        token = self.take_decoded_chunk(chunk, at)
        if self._tries_left and len(self._content.texts) + len(self._reasoning.texts) > 1:
            self._look_for_pattern(data, chunk)
        return token

    def _take_odd_chunk(self, data: bytes, at: int) -> bool:
        """Add data that is not strict JSON. Return True if the data holds a token.

        The data is a chunk that contains NaN or half of a surrogate pair, or it is several chunks, one per
        line.
        """
        self.pieces.is_lenient = True
        lines = data.split(b"\n") if b"\n" in data else [data]
        tokens = [self.take_decoded_chunk(read_json(line), at) for line in lines if line.strip()]
        return any(tokens)

    def take_decoded_chunk(self, chunk: dict[str, Any], at: int) -> bool:
        """Add a decoded chunk. Return True if the chunk holds a token."""
        choices = chunk.get("choices")
        choice = choices[0] if choices else _NOTHING
        delta = choice.get("delta") or _NOTHING
        token = False
        if error := chunk.get("error"):
            self._take_error(error)
        elif choices and choice.get("index") in _OURS:  # further choices (`n`) were not requested
            token = self._take_choice(choice, delta, at)
        elif not choices:
            self._take_stray(chunk)
        if usage := chunk.get("usage") or choice.get("usage"):
            self.pieces.take_usage(usage)
        keys = (*chunk, None, *choice, None, *delta)
        if keys != self._seen_keys:
            self._seen_keys = keys
            self._note_unknown(chunk, choice, delta)
        return token

    def _take_choice(self, choice: dict[str, Any], delta: dict[str, Any], at: int) -> bool:
        token = False
        content = delta.get("content")
        if content:
            token = True
            if type(content) is str:
                is_thought = len(delta) > 1 and is_marked_thought(delta)
                (self._reasoning if is_thought else self._content).add_text(content, at)
            else:
                token = self._take_parts(content, at)
        if len(delta) > 1 or (delta and not content):
            token = self._take_others(delta, at) or token
        elif not delta and choice.get("text"):
            token = True
            self._content.add_text(choice["text"], at)
        elif not delta and choice.get("message"):
            token = self._take_message(choice["message"], at)
        if reason := choice.get("finish_reason") or choice.get("finishReason"):
            self.pieces.take_finish_reason(reason)
        if error := choice.get("error"):
            self._take_error(error)
        if logprobs := choice.get("logprobs"):
            self.pieces.take_logprobs(logprobs)
        return token

    def _take_others(self, delta: dict[str, Any], at: int) -> bool:
        """Add all fields of a delta except `content`. Return True if any of these fields holds a token."""
        token = False
        if not THOUGHT_FIELDS.isdisjoint(delta) and (thought := read_thought(delta)):
            token = True
            self._reasoning.add_text(thought, at)
        if ("tool_calls" in delta or "function_call" in delta) and self.pieces.take_calls(delta, at):
            token = self._has_calls = True
        if delta.get("refusal"):
            token = True
            self.pieces.refusal.append(delta["refusal"])
        return token

    def _take_parts(self, content: Any, at: int) -> bool:
        """Add content that is a list of parts instead of a string. Return True if any part holds a token."""
        text, reasoning, calls = read_content(content)
        if text:
            self._content.add_text(text, at)
        if reasoning:
            self._reasoning.add_text(reasoning, at)
        return self.pieces.take_calls(_NOTHING, at, calls) or bool(text or reasoning)

    def _take_message(self, message: dict[str, Any], at: int) -> bool:
        """Add a message that was sent where a delta was expected. Return True if the message holds a token.

        The message may hold the next piece of text, all text so far, or (MiniMax) the whole response, sent
        again after its deltas. Which of the three was sent is decided at the end of the stream. The tool
        calls of the message count only if no delta had any.
        """
        pieces = self.pieces
        text, thought, parts = read_content(message.get("content"))
        messages = pieces.messages = pieces.messages or (TextChannel(), TextChannel())
        came = False
        for channel, said in zip(messages, (text, read_thought(message) or thought), strict=True):
            if said:
                channel.add_text(said, at)
                came = came or not (self._content.texts or self._reasoning.texts)
        if not self._has_calls:
            came = pieces.take_calls(message, at, parts) or came
        return came

    def _take_error(self, error: Any) -> None:
        self.error = error if isinstance(error, dict) else {"message": str(error)}

    def _take_stray(self, chunk: dict[str, Any]) -> None:
        """Process an event without choices.

        If the event is an error, record the error. If the event could be an error, keep the event until
        `detect_stream_error` decides.
        """
        if error := _error_of(chunk):
            self._take_error(error)
        elif "choices" not in chunk and not self._stray and any(chunk.get(name) for name in _TELLING):
            self._stray = chunk

    def _note_unknown(self, chunk: dict[str, Any], choice: dict[str, Any], delta: dict[str, Any]) -> None:
        """Record the model's name, a simulated server's mark, and the names of unknown fields."""
        self.pieces.model = _text(chunk.get("model")) or self.pieces.model
        self.is_simulated = self.is_simulated or is_simulated(chunk)
        if (
            _KNOWN_CHUNK.issuperset(chunk)
            and _KNOWN_CHOICE.issuperset(choice)
            and _KNOWN_MESSAGE.issuperset(delta)
        ):
            return
        if isinstance(groq := chunk.get("x_groq"), dict) and groq.get("usage"):
            self.pieces.take_usage(groq["usage"])
        for fields, known in ((chunk, _KNOWN_CHUNK), (choice, _KNOWN_CHOICE), (delta, _KNOWN_MESSAGE)):
            for key in fields.keys() - known:
                if fields[key] is not None and key != "error":
                    self.pieces.extra[key] = fields[key]

    def _look_for_pattern(self, data: bytes, chunk: dict[str, Any]) -> None:
        """Learn the pattern that the stream's events follow (see `sse.EventPattern`).

        Nothing is learned from a chunk that carries anything besides one text.
        """
        choices = chunk.get("choices")
        choice = choices[0] if choices else _NOTHING
        delta = choice.get("delta") or _NOTHING
        more = (
            chunk.get("usage") or chunk.get("error") or choice.get("finish_reason") or choice.get("logprobs")
        )
        if more or len(delta) != 1 or choice.get("usage"):
            return
        ((field, text),) = delta.items()
        if text and field in _TEXTS and choice.get("index") in _OURS and type(text) is str:
            before = (self._content if field == "content" else self._reasoning).texts[-2:-1]
            if before and text.startswith(
                before[0]
            ):  # each text may repeat the one before it, so keep them apart
                return
            self._tries_left -= 1
            self.pattern = learn_pattern(data, chunk, delta, field)

    # A whole response

    def take_whole_body(self, body: bytes) -> None:
        """Add a response that was not streamed, given its JSON body."""
        try:
            answer = _decode(body)
        except DECODE_ERRORS:
            self.pieces.is_lenient = True
            answer = read_json(body)
        if error := _error_of(answer):
            self._take_error(error)
            return
        if "choices" not in answer and any(answer.get(name) for name in _TELLING):
            self._take_error(answer)
            return
        choices = answer["choices"]
        choice = choices[0]
        if error := choice.get("error"):
            self._take_error(error)
            return
        message = choice.get("message") or choice.get("delta") or {}
        pieces = self.pieces
        text, thought, calls = read_content(message.get("content") or choice.get("text"))
        self._content.add_text(text, 0)
        self._reasoning.add_text(read_thought(message) or thought, 0)
        if "tool_calls" in message or "function_call" in message:
            pieces.calls.add_all(message, whole=True)
        for call in calls:
            pieces.calls.add_delta(call)
        pieces.refusal.append(message.get("refusal") or "")
        pieces.take_finish_reason(choice.get("finish_reason") or choice.get("finishReason"))
        if pieces.calls.first_call is None and pieces.finish_reason == "tool_calls":
            for one in choices[1:]:  # Copilot's server splits text and calls into two choices
                pieces.calls.add_all(one.get("message") or {}, whole=True)
        pieces.logprobs = choice.get("logprobs")
        pieces.take_usage(answer.get("usage"))
        self._note_unknown(answer, {**choice, "delta": message}, message)

    # Result

    def detect_stream_error(self, *, named_error: bool, error: bytes = b"") -> None:
        """Decide at the end of a stream whether the stream reported an error, and record that error.

        `error`: an error that was sent outside of the events' data. An event that is not a chunk counts as an
        error if any event was named "error" (`named_error`), or if the response has no finish reason.
        """
        if error and self.error is None:
            try:
                said = read_json(error)
                self._take_error(_error_of(said) or said)
            except DECODE_ERRORS:
                self._take_error(error.decode("utf-8", "replace"))
        if self.error is None and (named_error or (self._stray and self.pieces.finish_reason is None)):
            self._take_error(self._stray or "an event named error")

    def make_reply(self, body: bytes | None) -> Reply:
        """Return the response. `body`: the response's body if it was not streamed, else None."""
        return self.pieces.make_reply(body)


def _error_of(answer: dict[str, Any]) -> Any:
    """Return the error in a response or chunk. Return None if there is none.

    The error is in the field `error`, or has one of the formats of older servers and of MiniMax.
    """
    if error := answer.get("error"):
        return error
    if "choices" not in answer and "error" in (answer.get("object"), answer.get("type")):
        return answer
    if "choices" not in answer and "message" in answer and ("code" in answer or "type" in answer):
        return answer
    status = answer.get("base_resp")
    if not answer.get("choices") and isinstance(status, dict) and status.get("status_code"):
        return {"code": status["status_code"], "message": status.get("status_msg")}
    return None


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"text was expected, not {value!r:.40}")
    return value
