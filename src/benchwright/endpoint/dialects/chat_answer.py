"""Parser of a chat completion's answer into parts, from a whole body or step by step from a stream."""

from __future__ import annotations

from collections.abc import Iterator
from secrets import token_hex
from typing import Any, Literal, NamedTuple

import msgspec

from benchwright.endpoint.call_arguments import read_object_arguments
from benchwright.endpoint.finish_reasons import read_finish_reason
from benchwright.endpoint.json_reading import SurrogateJoiner, join_surrogates
from benchwright.endpoint.message_content import read_content
from benchwright.endpoint.reasoning_parser import read_thought
from benchwright.endpoint.text_channel import repeats_earlier_texts
from benchwright.endpoint.tool_calls import ToolCallAccumulator
from benchwright.endpoint.usage import read_usage
from benchwright.records import NO_USAGE, Usage

TEXT_PART_KINDS = ("reasoning", "text", "refusal")
"""Kinds of parts that are text, in the order in which they appear in an answer that is not streamed."""

CALL_ID_PREFIX = "call_"

RAW_ARGUMENTS_FIELD = "arguments"
"""Name of the field that holds a call's arguments as text if the model did not write a JSON object."""


class AnswerPart(msgspec.Struct):
    """One part of an answer.

    `text`: the text of the part; for a call, its arguments as JSON. `id`, `name`: set for calls only.
    """

    kind: Literal["reasoning", "text", "refusal", "call"]
    text: str = ""
    id: str = ""
    name: str = ""


class ChatAnswer(msgspec.Struct):
    """The answer in a chat completion: its parts (text, reasoning, tool calls), finish reason, and usage."""

    parts: list[AnswerPart] = []
    finish_reason: str | None = None
    usage: Usage = NO_USAGE

    @property
    def normalised_finish_reason(self) -> str:
        """The finish reason as one of stop, length, tool_calls and content_filter.

        "stop" becomes "tool_calls" if the answer has calls.
        """
        calls = any(part.kind == "call" for part in self.parts)
        if self.finish_reason in ("length", "content_filter"):
            return self.finish_reason
        return "tool_calls" if calls else "stop"


def read_answer(body: dict[str, Any]) -> ChatAnswer:
    """Return the answer in a body that was not streamed.

    Raises:
        KeyError, TypeError, IndexError, AttributeError: If the body is not a chat completion.
    """
    choice = body["choices"][0]
    message = choice["message"]
    calls = ToolCallAccumulator(_call_ids())
    calls.add_all(message, whole=True)
    for part in read_content(message.get("content")).calls:
        calls.add_delta(part)
    parts = [AnswerPart(kind, join_surrogates(text)) for kind, text in _texts(message) if text]  # type: ignore[arg-type]
    parts += [_call_part(call) for call in calls.finish()]
    return ChatAnswer(parts, read_finish_reason(choice.get("finish_reason")), read_usage(body.get("usage")))


def _call_part(call: dict[str, Any]) -> AnswerPart:
    function = call["function"]
    return AnswerPart("call", function["arguments"], call["id"], function["name"])


def _texts(message: dict[str, Any]) -> Iterator[tuple[str, str]]:
    content = read_content(message.get("content"))
    yield "reasoning", read_thought(message) or content.reasoning
    yield "text", content.text
    yield "refusal", message.get("refusal") or ""


def _call_ids() -> str:
    """Return a prefix for the ids of calls that a server sent without an id. Each answer gets another prefix."""
    return f"{CALL_ID_PREFIX}{token_hex(6)}_"


class AnswerStep(NamedTuple):
    """One change to a part of a streamed answer: the part begins, grows by a text, or ends.

    Only one part is open at a time.
    """

    action: Literal["begin", "grow", "end"]
    part: AnswerPart
    text: str = ""


class AnswerStream:
    """Converter of a stream's chunks into steps, which are changes to the parts of the answer (see `AnswerStep`).

    In the dialects only one part is open at a time, but chunks may mix the arguments of several calls. So the
    first call is passed on as it arrives. Any other part that arrives meanwhile is held back until the end of
    the answer. Blank text after a call is dropped, because it would split the turn.
    """

    def __init__(self) -> None:
        self.answer = ChatAnswer()
        self.error: dict[str, Any] | None = None
        self._calls = ToolCallAccumulator(_call_ids())
        self._has_calls = False
        self._open: AnswerPart | None = None
        self._pieces: list[str] = []
        self._halves = SurrogateJoiner()
        self._told = 0
        self._held: dict[str, list[str]] = {}

    def read_chunk(self, chunk: dict[str, Any]) -> list[AnswerStep]:
        """Process a chunk of the stream, and return the steps that follow from the chunk.

        Raises:
            KeyError, TypeError, AttributeError: If the chunk is not a chunk of a chat completion.
        """
        if chunk.get("usage"):
            self.answer.usage = read_usage(chunk["usage"])
        if chunk.get("error"):
            error = chunk["error"]
            self.error = error if isinstance(error, dict) else {"message": str(error)}
            return []
        choices = chunk.get("choices")
        if not choices or choices[0].get("index") not in (None, 0, "0"):
            return []
        choice = choices[0]
        delta = choice.get("delta") or self._new_in(choice.get("message") or {})
        self._has_calls = self._has_calls or bool((choice.get("delta") or {}).get("tool_calls"))
        self.answer.finish_reason = (
            read_finish_reason(choice.get("finish_reason")) or self.answer.finish_reason
        )
        return list(self._take_delta(delta)) if delta else []

    def finish(self) -> list[AnswerStep]:
        """Return the steps at the end of the answer: the end of the open part, then the steps that were held back."""
        return [*self._close(), *self._rest()]

    def _new_in(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return, as a delta, what is new in a message that was sent where a delta was expected.

        The message may repeat everything that was sent before.
        """
        if not message:
            return message
        said = "".join(part.text for part in self.answer.parts if part.kind == "text")
        if self._open is not None and self._open.kind == "text":
            said += "".join(self._pieces)
        text = read_content(message.get("content")).text
        new = {**message, "content": text.removeprefix(said)}
        return {**new, "tool_calls": None, "function_call": None} if self._has_calls else new

    def _take_delta(self, delta: dict[str, Any]) -> Iterator[AnswerStep]:
        for kind, text in _texts(delta):
            if text and self._calls.first_call is not None:
                self._held.setdefault(kind, []).append(text)
            elif text:
                yield from self._grow(kind, text)
        came = self._calls.add_all(delta)
        for part in read_content(delta.get("content")).calls:
            came = self._calls.add_delta(part) or came
        if came:
            yield from self._first_call()

    def _first_call(self) -> Iterator[AnswerStep]:
        """Yield the steps of the streamed answer for newly arrived arguments of its first tool call.

        The call's "begin" step is yielded together with its first arguments, because its name is complete
        only then.
        """
        first = self._calls.first_call
        if first is None or len(first.arguments) == self._told:
            return
        if not self._told:
            identity = first.id or self._calls.make_call_id(0)
            yield from self._begin(AnswerPart("call", id=identity, name=first.name))
        for text in first.arguments[self._told :]:
            yield from self._grown(text)
        self._told = len(first.arguments)

    def _grow(self, kind: str, text: str) -> Iterator[AnswerStep]:
        if self._open is None or self._open.kind != kind:
            yield from self._begin(AnswerPart(kind))  # type: ignore[arg-type]
        if not repeats_earlier_texts(text, self._pieces):
            yield from self._grown(text)

    def _begin(self, part: AnswerPart) -> Iterator[AnswerStep]:
        yield from self._close()
        self._open, self._pieces, self._halves = part, [], SurrogateJoiner()
        self.answer.parts.append(part)
        yield AnswerStep("begin", part)

    def _grown(self, text: str) -> Iterator[AnswerStep]:
        assert self._open is not None
        if whole := self._halves.add(text):
            self._pieces.append(whole)
            yield AnswerStep("grow", self._open, whole)

    def _close(self) -> Iterator[AnswerStep]:
        if self._open is not None:
            if broken := self._halves.end():
                self._pieces.append(broken)
                yield AnswerStep("grow", self._open, broken)
            self._open.text = "".join(self._pieces)
            yield AnswerStep("end", self._open)
            self._open = None

    def _rest(self) -> Iterator[AnswerStep]:
        texts = ((kind, join_surrogates("".join(self._held.get(kind, ())))) for kind in TEXT_PART_KINDS)
        late = [AnswerPart(kind, text) for kind, text in texts if text.strip()]  # type: ignore[arg-type]
        calls = [_call_part(call) for call in self._calls.finish()[bool(self._told) :]]
        for part in (*late, *calls):
            self.answer.parts.append(part)
            yield from part_steps(part)


def part_steps(part: AnswerPart) -> list[AnswerStep]:
    """Return the steps (see `AnswerStep`) that send a complete part of an answer: its begin, its text and its end."""
    return [AnswerStep("begin", part), AnswerStep("grow", part, part.text), AnswerStep("end", part)]


def parse_arguments(text: str) -> dict[str, Any]:
    """Return a call's arguments as an object.

    Text that is not a JSON object becomes the value of the field `RAW_ARGUMENTS_FIELD`.
    """
    value = read_object_arguments(text)
    return {RAW_ARGUMENTS_FIELD: text} if value is None else value
