"""An answer, put together from the chunks of a stream or taken from a whole message."""

from __future__ import annotations

from array import array
from typing import Any

import msgspec

from benchwright.endpoint.reply import (
    Reply,
    answer_start,
    assistant_message,
    content_text,
    read_usage,
    split_reasoning,
    with_estimate,
)
from benchwright.endpoint.sse import EventPattern, pattern_of
from benchwright.endpoint.tool_calls import ToolCalls
from benchwright.records import UNREADABLE, Usage

MISSHAPEN = (
    *UNREADABLE,
    *(AttributeError, TypeError, KeyError, IndexError),
)
"""What reading an answer raises that is no JSON, or nested too deeply, or not of the shape it should have."""

PATTERN_TRIES = 4
"""How many chunks in a row are looked at for a pattern that the next one then does not follow."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

_NOTHING: dict[str, Any] = {}

_KNOWN_CHUNK = frozenset({"id", "object", "created", "model", "choices", "usage"})
_KNOWN_CHOICE = frozenset({"index", "delta", "message", "text", "finish_reason", "logprobs"})
_KNOWN_MESSAGE = frozenset(
    {"role", "content", "tool_calls", "refusal", "reasoning_content", "reasoning", "function_call"}
)
_TELLING = ("message", "detail", "errors", "msg")
"""Fields by which an event that is no chunk tells of an error."""

SUMMARY = 4
"""So many times fewer tokens of reasoning than were counted are a summary of it."""

_TEXTS = frozenset({"content", "reasoning_content", "reasoning"})


class Assembly:
    """What there is of an answer so far. Whatever takes a piece in raises one of `MISSHAPEN` at a bad one."""

    def __init__(self) -> None:
        self.error: dict[str, Any] | None = None
        self.finish_reason: str | None = None
        self.pattern: EventPattern | None = None
        self._tries_left = PATTERN_TRIES
        self._contents: list[str] = []
        self._content_at = array("Q")
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls = ToolCalls()
        self._first_call_at = 0
        self._usage: Any = None
        self._logprobs: Any = None
        self._model: str | None = None
        self._extra: dict[str, Any] = {}
        self._stray: dict[str, Any] = {}
        self._pieces_counted = 0
        self._seen_keys: tuple[str | None, ...] = ()

    # Chunks of a stream

    def take_texts(self, field: str, texts: list[str], at: int) -> None:
        """Takes the texts of chunks that follow the pattern."""
        self._tries_left = PATTERN_TRIES
        text = texts[0] if len(texts) == 1 else "".join(texts)
        if field == "content":
            self._take_content(text, at)
        else:
            self._reasoning.append(text)

    def take_chunk(self, data: bytes, at: int) -> bool:
        """Takes a chunk, as JSON; whether it holds a token: a non-empty piece on any channel."""
        chunk = _decode(data)
        token = self.take_read(chunk, at)
        if self._tries_left and len(self._contents) + len(self._reasoning) > 1:
            self._look_for_pattern(data, chunk)
        return token

    def take_read(self, chunk: dict[str, Any], at: int) -> bool:
        """Takes a chunk that was read already; see `take_chunk`."""
        choices = chunk.get("choices")
        choice = choices[0] if choices else _NOTHING
        delta = choice.get("delta") or _NOTHING
        token = False
        if error := chunk.get("error"):
            self._take_error(error)
        elif choices and not choice.get("index"):  # further choices (`n`) were not asked for
            token = self._take_choice(choice, delta, at)
        elif "choices" not in chunk:
            self._take_stray(chunk)
        if usage := chunk.get("usage"):
            self._usage, self._pieces_counted = usage, self._pieces()
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
            if type(content) is not str:
                content, thought = content_text(content)
                self._reasoning.append(thought)
            self._take_content(content, at)
        if len(delta) > 1 or (delta and not content):
            token = self._take_others(delta, at) or token
        elif not delta and choice.get("text"):
            token = True
            self._take_content(choice["text"], at)
        if reason := choice.get("finish_reason"):
            self.finish_reason = _text(reason)
        if error := choice.get("error"):
            self._take_error(error)
        if logprobs := choice.get("logprobs"):
            self._take_logprobs(logprobs)
        return token

    def _take_others(self, delta: dict[str, Any], at: int) -> bool:
        """Takes what is not content; whether any of it is a token."""
        token = False
        reasoning = _thought(delta)
        if reasoning:
            token = True
            self._reasoning.append(reasoning)
        for piece in delta.get("tool_calls") or ():
            if self._calls.add(piece):
                token = True
                self._first_call_at = self._first_call_at or at
        if delta.get("refusal"):
            token = True
            self._refusal.append(delta["refusal"])
        return token

    def _take_content(self, content: str, at: int) -> None:
        self._contents.append(content)
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

    def _take_stray(self, chunk: dict[str, Any]) -> None:
        """Takes an event that is no chunk: an error, or what may turn out to be one."""
        if _is_error(chunk):
            self._take_error(chunk)
        elif not self._stray and any(chunk.get(name) for name in _TELLING):
            self._stray = chunk

    def _note_unknown(self, chunk: dict[str, Any], choice: dict[str, Any], delta: dict[str, Any]) -> None:
        """Keeps the model's name, and fields that are new to us."""
        self._model = _text(chunk.get("model")) or self._model
        if (
            _KNOWN_CHUNK.issuperset(chunk)
            and _KNOWN_CHOICE.issuperset(choice)
            and _KNOWN_MESSAGE.issuperset(delta)
        ):
            return
        for fields, known in ((chunk, _KNOWN_CHUNK), (choice, _KNOWN_CHOICE), (delta, _KNOWN_MESSAGE)):
            for key in fields.keys() - known:
                if fields[key] is not None and key != "error":
                    self._extra[key] = fields[key]

    def _look_for_pattern(self, data: bytes, chunk: dict[str, Any]) -> None:
        """Learns from a chunk, not the first, that carries one text and nothing else."""
        choices = chunk.get("choices")
        choice = choices[0] if choices else _NOTHING
        delta = choice.get("delta") or _NOTHING
        more = (
            chunk.get("usage") or chunk.get("error") or choice.get("finish_reason") or choice.get("logprobs")
        )
        if more or len(delta) != 1:
            return
        ((field, text),) = delta.items()
        if text and field in _TEXTS and not choice.get("index") and type(text) is str:
            self._tries_left -= 1
            self.pattern = pattern_of(data, chunk, delta, field)

    # A whole answer

    def take_whole(self, body: bytes) -> None:
        """Takes an answer that was not streamed, as JSON."""
        answer = _decode(body)
        if answer.get("error"):
            self._take_error(answer["error"])
            return
        if "choices" not in answer and (_is_error(answer) or any(answer.get(name) for name in _TELLING)):
            self._take_error(answer)
            return
        choice = answer["choices"][0]
        message = choice.get("message") or {}
        text, thought = content_text(message.get("content") or choice.get("text"))
        self._take_content(text, 0)
        self._reasoning.append(_thought(message) or thought)
        for position, call in enumerate(message.get("tool_calls") or []):
            self._calls.add({**call, "index": position})
        self._refusal.append(message.get("refusal") or "")
        self.finish_reason = _text(choice.get("finish_reason"))
        self._logprobs = choice.get("logprobs")
        self._usage, self._pieces_counted = answer.get("usage"), self._pieces()
        self._note_unknown(answer, {**choice, "delta": message}, message)

    # The end

    def conclude(self, *, named_error: bool) -> None:
        """Takes what is no chunk for an error, where an event was named so or nothing says how the answer ended."""
        if self.error is None and (named_error or (self._stray and self.finish_reason is None)):
            self._take_error(self._stray or "an event named error")

    def _pieces(self) -> int:
        return len(self._contents) + len(self._reasoning)

    def _told_usage(self, content: str) -> Usage:
        """The usage, without a count of tokens that cannot be that of the whole answer.

        It is none where it says 0 of a text, or where it came before the last piece and is less than the pieces.
        """
        usage = read_usage(self._usage)
        tokens, pieces = usage.completion_tokens, self._pieces()
        nothing = tokens == 0 and bool(content)
        early = tokens is not None and self._pieces_counted < pieces and tokens < pieces
        return msgspec.structs.replace(usage, completion_tokens=None) if nothing or early else usage

    def sent_of_reasoning(self, counted: int, reply: Reply) -> int:
        """How many of the tokens of reasoning that the server counted were sent.

        None where none was. Where what was sent is a summary, with less than a quarter of the text that so many tokens
        have in the answer, as many as that text makes, and as it has pieces at least.
        """
        if not reply.reasoning:
            return 0
        answer = (reply.usage.completion_tokens or 0) - counted
        if answer <= 0 or not reply.text:
            return counted
        likely = max(round(len(reply.reasoning) * answer / len(reply.text)), len(self._reasoning))
        return likely if likely < counted / SUMMARY else counted

    def first_share(self) -> float:
        """The share of all text that the first piece had; 0 where there is no text."""
        texts = [text for text in (*self._reasoning, *self._contents) if text]
        return len(texts[0]) / sum(map(len, texts)) if texts else 0.0

    def answer_at(self) -> int:
        """When the first byte of the answer proper arrived (a tool call counts), 0 if none did."""
        content = "".join(self._contents)
        start = 0 if any(self._reasoning) else answer_start(content)
        rest = content[start:]
        first = start + len(rest) - len(rest.lstrip())
        content_at = end = 0
        for text, at in zip(self._contents, self._content_at, strict=True):
            end += len(text)
            if end > first:
                content_at = at
                break
        return min(content_at or self._first_call_at, self._first_call_at or content_at)

    def reply(self, body: bytes | None) -> Reply:
        """The answer; `raw` is the body of one that was not streamed, or else what a whole one would have been."""
        content = "".join(self._contents)
        apart = "".join(self._reasoning)
        inline, text = ("", content) if apart else split_reasoning(content)
        refusal = "".join(self._refusal) or None
        tool_calls = self._calls.finish()
        reasoning = apart or inline
        usage = self._told_usage(content or apart)
        if reasoning:
            called = "".join(call["function"]["arguments"] for call in tool_calls)
            usage = with_estimate(usage, reasoning, f"{text}{called}{refusal or ''}")
        return Reply(
            message=assistant_message(text, tool_calls, refusal),
            text=text,
            reasoning=reasoning,
            tool_calls=tool_calls,
            refusal=refusal,
            finish_reason=self.finish_reason,
            usage=usage,
            logprobs=self._logprobs,
            model=self._model,
            extra=self._extra,
            raw=self._raw(content, apart, tool_calls, refusal) if body is None else body,
        )

    def _raw(
        self, content: str, reasoning: str, tool_calls: list[dict[str, Any]], refusal: str | None
    ) -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if reasoning:
            message["reasoning_content"] = reasoning
        if tool_calls:
            message["tool_calls"] = tool_calls
        if refusal:
            message["refusal"] = refusal
        choice: dict[str, Any] = {"message": message, "finish_reason": self.finish_reason}
        if self._logprobs is not None:
            choice["logprobs"] = self._logprobs
        whole = {"model": self._model, "choices": [choice], "usage": self._usage, **self._extra}
        return _encode({key: value for key, value in whole.items() if value is not None})


def _is_error(chunk: dict[str, Any]) -> bool:
    """Whether a chunk without choices is an error that has no field `error`, as older servers write it."""
    if "error" in (chunk.get("object"), chunk.get("type")):
        return True
    return "message" in chunk and ("code" in chunk or "type" in chunk)


def _thought(message: dict[str, Any]) -> Any:
    """The reasoning in a delta or message, under the names in use; text unless it is misshapen."""
    thought = message.get("reasoning_content") or message.get("reasoning")
    if thought or not message.get("reasoning_details"):
        return thought
    return "".join(part.get("text") or part.get("summary") or "" for part in message["reasoning_details"])


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"text was expected, not {value!r:.40}")
    return value
