"""The meter: a sink that times an answer while it arrives and puts the answer together.

First token means the first non-empty piece on any channel: reasoning, answer, tool call or refusal. Chunks
that hold only a role, usage or a finish reason are none. The clock starts when the request was handed to
the socket; the moments are those at which bytes arrived, before they were parsed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Any

import msgspec

from benchwright.endpoint.connection import Headers
from benchwright.endpoint.reply import (
    Reply,
    answer_start,
    assistant_message,
    content_text,
    read_usage,
    split_reasoning,
)
from benchwright.endpoint.sse import EventStream
from benchwright.endpoint.tool_calls import ToolCalls
from benchwright.stats.histogram import bucket

LARGEST_ANSWER = 256 * 1024 * 1024
SIMULATED_HEADER = b"x-benchwright-simulated"

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

_MISSHAPEN = (
    *(msgspec.DecodeError, UnicodeError, RecursionError),
    *(AttributeError, TypeError, KeyError, IndexError),
)
"""What reading an answer raises that is no JSON, or nested too deeply, or not of the shape it should have."""

_NOTHING: dict[str, Any] = {}

_KNOWN_CHUNK = frozenset({"id", "object", "created", "model", "choices", "usage"})
_KNOWN_CHOICE = frozenset({"index", "delta", "message", "text", "finish_reason", "logprobs"})
_KNOWN_MESSAGE = frozenset(
    {"role", "content", "tool_calls", "refusal", "reasoning_content", "reasoning", "function_call"}
)


class BadAnswer(ValueError):
    """The body is not what an OpenAI-compatible endpoint answers."""


class EmptyStream(BadAnswer):
    """A stream without a single event: some servers end so when they cannot start to answer."""


class AnswerMeter:
    """A sink for one answer of /chat/completions or /completions, streamed or whole."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Headers = []
        self.streamed = False
        self.simulated = False
        self.first_token_at = 0
        self.last_token_at = 0
        self.first_call_at = 0
        self.chunks = 0
        self.gaps: dict[int, int] = {}
        self.flags: list[str] = []
        self.error: dict[str, Any] | None = None
        self._events = EventStream()
        self._body: list[bytes] = []
        self._size = 0
        self._done = False
        self._contents: list[str] = []
        self._content_ends = array("Q")
        self._content_at = array("Q")
        self._length = 0
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls = ToolCalls()
        self._finish_reason: str | None = None
        self._usage: Any = None
        self._logprobs: Any = None
        self._model: str | None = None
        self._extra: dict[str, Any] = {}
        self._seen_keys: tuple[str | None, ...] = ()

    # The sink

    def head(self, status: int, headers: Headers, at: int) -> None:
        """Learns whether a stream follows."""
        self.status, self.headers = status, headers
        for name, value in headers:
            if name == b"content-type":
                self.streamed = status == 200 and value.lower().startswith(b"text/event-stream")
            elif name == SIMULATED_HEADER:
                self.simulated = True
            elif status == 200 and name == b"content-encoding" and value.lower() not in (b"identity", b""):
                raise BadAnswer(f"the server compressed its answer ({value.decode('latin-1')}) unasked")

    def data(self, chunk: bytes, at: int) -> None:
        """Takes a piece of the body in."""
        self._size += len(chunk)
        if self._size > LARGEST_ANSWER:
            raise BadAnswer(f"the answer is larger than {LARGEST_ANSWER} bytes")
        if not self.streamed:
            self._body.append(chunk)
            return
        for data in self._events.feed(chunk):
            if self._done or not data:
                continue
            if data == b"[DONE]":
                self._done = True
            else:
                self._take_chunk(data, at)

    # Chunks of a stream

    def _take_chunk(self, data: bytes, at: int) -> None:
        try:
            chunk = _decode(data)
            choices = chunk.get("choices")
            choice = choices[0] if choices else _NOTHING
            delta = choice.get("delta") or _NOTHING
            if chunk.get("usage"):
                self._usage = chunk["usage"]
            if chunk.get("error"):
                self._take_error(chunk["error"])
            elif choices and not choice.get("index"):  # further choices (`n`) were not asked for
                self._take_choice(choice, delta, at)
            keys = (*chunk, None, *choice, None, *delta)
            if keys != self._seen_keys:
                self._seen_keys = keys
                self._note_unknown(chunk, choice, delta)
        except _MISSHAPEN as error:
            self.flags.append("malformed_chunk")
            raise BadAnswer(f"a piece of the stream is no chat completion chunk: {error}") from None

    def _take_choice(self, choice: dict[str, Any], delta: dict[str, Any], at: int) -> None:
        token = False
        content = delta.get("content")
        if content:
            token = True
            if type(content) is not str:
                content, thought = content_text(content)
                self._reasoning.append(thought)
            self._take_content(content, at)
        if len(delta) > 1 or (delta and not content):
            token = self._take_others(delta, at) or token
        elif not delta and choice.get("text"):
            token = True
            self._take_content(choice["text"], at)
        if choice.get("finish_reason"):
            self._finish_reason = _text(choice["finish_reason"])
        if choice.get("logprobs"):
            self._take_logprobs(choice["logprobs"])
        if token:
            self.chunks += 1
            if self.first_token_at:
                slot = bucket(at - self.last_token_at)
                self.gaps[slot] = self.gaps.get(slot, 0) + 1
            else:
                self.first_token_at = at
            self.last_token_at = at

    def _take_others(self, delta: dict[str, Any], at: int) -> bool:
        """Takes what is not content; whether any of it is a token."""
        token = False
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if reasoning:
            token = True
            self._reasoning.append(reasoning)
        for piece in delta.get("tool_calls") or ():
            if self._calls.add(piece):
                token = True
                self.first_call_at = self.first_call_at or at
        if delta.get("refusal"):
            token = True
            self._refusal.append(delta["refusal"])
        return token

    def _take_content(self, content: str, at: int) -> None:
        self._contents.append(content)
        self._length += len(content)
        self._content_ends.append(self._length)
        self._content_at.append(at)

    def _take_logprobs(self, logprobs: dict[str, Any]) -> None:
        if self._logprobs is None:
            self._logprobs = {}
        for key, value in logprobs.items():
            if isinstance(value, list):
                self._logprobs.setdefault(key, []).extend(value)
            elif value is not None:
                self._logprobs[key] = value

    def _take_error(self, error: Any) -> None:
        self.error = error if isinstance(error, dict) else {"message": str(error)}

    def _note_unknown(self, chunk: dict[str, Any], choice: dict[str, Any], delta: dict[str, Any]) -> None:
        """Keeps the model's name, and fields that are new to us."""
        self._model = _text(chunk.get("model")) or self._model
        for fields, known in ((chunk, _KNOWN_CHUNK), (choice, _KNOWN_CHOICE), (delta, _KNOWN_MESSAGE)):
            for key in () if known.issuperset(fields) else fields.keys() - known:
                if fields[key] is not None and key != "error":
                    self._extra[key] = fields[key]

    # The end

    @property
    def announced(self) -> bool:
        """Whether a stream has said that it is done; only the end of the transfer may be missing."""
        return self._done

    @property
    def body(self) -> bytes:
        """The whole body of an answer that was not streamed."""
        return b"".join(self._body)

    def finish(self) -> Reply:
        """The answer; empty where `error` says why there is none.

        Raises:
            BadAnswer: it is not one, or the stream broke off before its end was announced.
        """
        try:
            if not self.streamed:
                self._take_whole(_decode(self.body))
            elif not self.error:
                self._check_end()
            return self._reply()
        except _MISSHAPEN as error:
            raise BadAnswer(f"the answer is no chat completion ({type(error).__name__}: {error})") from None

    def _check_end(self) -> None:
        if not self._done:
            self.flags.append("no_done")
        if not self._size:
            raise EmptyStream("the stream was empty")
        if self._finish_reason is None and not self._done:
            raise BadAnswer("the stream ended before the answer did")
        if self._finish_reason is None and not self.chunks:
            raise BadAnswer("the stream held no answer")

    def _reply(self) -> Reply:
        content = "".join(self._contents)
        apart = "".join(self._reasoning)
        inline, text = ("", content) if apart else split_reasoning(content)
        reasoning = apart or inline
        refusal = "".join(self._refusal) or None
        tool_calls = self._calls.finish()
        return Reply(
            message=assistant_message(text, tool_calls, refusal),
            text=text,
            reasoning=reasoning,
            tool_calls=tool_calls,
            refusal=refusal,
            finish_reason=self._finish_reason,
            usage=read_usage(self._usage),
            logprobs=self._logprobs,
            model=self._model,
            extra=self._extra,
            raw=self._raw(content, apart, tool_calls, refusal),
        )

    def _take_whole(self, answer: dict[str, Any]) -> None:
        if answer.get("error"):
            self._take_error(answer["error"])
            return
        choice = answer["choices"][0]
        message = choice.get("message") or {}
        text, thought = content_text(message.get("content") or choice.get("text"))
        self._take_content(text, 0)
        self._reasoning.append(message.get("reasoning_content") or message.get("reasoning") or thought)
        for position, call in enumerate(message.get("tool_calls") or []):
            self._calls.add({**call, "index": position})
        self._refusal.append(message.get("refusal") or "")
        self._finish_reason = _text(choice.get("finish_reason"))
        self._logprobs = choice.get("logprobs")
        self._usage = answer.get("usage")
        self._note_unknown(answer, {**choice, "delta": message}, message)

    def answer_at(self) -> int:
        """When the first byte of the answer proper arrived (a tool call counts), 0 if none did."""
        content = "".join(self._contents)
        start = 0 if any(self._reasoning) else answer_start(content)
        rest = content[start:]
        first = start + len(rest) - len(rest.lstrip())
        position = bisect_right(self._content_ends, first) if first < len(content) else len(self._content_at)
        moments = [self._content_at[position]] if position < len(self._content_at) else []
        if self.first_call_at:
            moments.append(self.first_call_at)
        return min(moments, default=0)

    def _raw(
        self, content: str, reasoning: str, tool_calls: list[dict[str, Any]], refusal: str | None
    ) -> bytes:
        if not self.streamed:
            return self.body
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if reasoning:
            message["reasoning_content"] = reasoning
        if tool_calls:
            message["tool_calls"] = tool_calls
        if refusal:
            message["refusal"] = refusal
        choice: dict[str, Any] = {"message": message, "finish_reason": self._finish_reason}
        if self._logprobs is not None:
            choice["logprobs"] = self._logprobs
        whole = {"model": self._model, "choices": [choice], "usage": self._usage, **self._extra}
        return _encode({key: value for key, value in whole.items() if value is not None})


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"text was expected, not {value!r:.40}")
    return value
