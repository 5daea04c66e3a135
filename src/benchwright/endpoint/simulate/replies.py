"""Encoder of answers in OpenAI's formats: whole bodies, and the pieces of streams, both with usage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, repeat
from typing import Any

import msgspec

from benchwright.endpoint.dialects import AnswerTranslator
from benchwright.endpoint.simulate.answers import SimulatedAnswer, SimulatedCall
from benchwright.endpoint.simulate.dialects import translate_pieces
from benchwright.endpoint.simulate.logprobs import token_logprobs
from benchwright.endpoint.simulate.request_parsing import ParsedRequest
from benchwright.endpoint.simulation_marks import SIMULATED_MARK

_encode = msgspec.json.Encoder().encode


class ReplyFormat(msgspec.Struct):
    """Everything besides the answer that determines the bytes of a reply.

    `question`: the request. `id`, `created`: the reply's id and creation time. `model`: the model's name.
    `reasoning_field`: the field for reasoning. `translation`: translates the reply into the dialect of the
    request; None if the request is a chat completion.
    """

    question: ParsedRequest
    id: str
    created: int
    model: str
    reasoning_field: str
    translation: AnswerTranslator | None = None


def reply_body(form: ReplyFormat, answer: SimulatedAnswer) -> bytes:
    """Return the body of a reply that is not streamed."""
    body = _whole_body(form, answer)
    return _encode(body) if form.translation is None else form.translation.translate_body(body)


def _whole_body(form: ReplyFormat, answer: SimulatedAnswer) -> dict[str, Any]:
    text = "".join(answer.text)
    choice: dict[str, Any] = {"index": 0}
    if form.question.is_chat:
        choice["message"] = _message(form, answer, text)
    else:
        choice["text"] = text
    choice["logprobs"] = token_logprobs(form.question, answer.text, 0)
    choice["finish_reason"] = answer.finish_reason
    return {
        "id": form.id,
        "object": "chat.completion" if form.question.is_chat else "text_completion",
        "created": form.created,
        "model": form.model,
        "system_fingerprint": SIMULATED_MARK,
        "choices": [choice],
        "usage": _usage(form.question, answer),
    }


def stream_opening(form: ReplyFormat) -> bytes:
    """Return the first event of a chat stream, which has a role and no content. Return b"" for plain completions."""
    if form.translation is not None:
        return form.translation.begin()
    if not form.question.is_chat:
        return b""
    head, tail = _event_frame(form)
    return head + b'{"role":"assistant","content":""}' + tail


def stream_pieces(form: ReplyFormat, answer: SimulatedAnswer) -> Iterator[bytes]:
    """Yield one event per token.

    The last token's piece also holds the finish reason, the usage (if requested) and [DONE]. If an answer has
    no tokens, these are its only piece.
    """
    pieces = _chat_pieces(form, answer)
    return pieces if form.translation is None else translate_pieces(form.translation, pieces)


def _chat_pieces(form: ReplyFormat, answer: SimulatedAnswer) -> Iterator[bytes]:
    ending = _stream_ending(form, answer)
    if not answer.token_count:
        return iter((ending,))
    deltas = _chat_deltas(form, answer) if form.question.is_chat else map(_encode, answer.text)
    if form.question.top_logprobs is None:
        head, tail = _event_frame(form)
        events = _enclosed(head, deltas, tail)
    else:
        events = _events_with_logprobs(form, answer, deltas)
    return chain(islice(events, answer.token_count - 1), (event + ending for event in events))


def _message(form: ReplyFormat, answer: SimulatedAnswer, text: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if answer.calls or answer.refusal:
        message["content"] = text or None
    if answer.reasoning:
        message[form.reasoning_field] = "".join(answer.reasoning)
    if answer.refusal:
        message["refusal"] = "".join(answer.refusal)
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": "".join(call.arguments)},
            }
            for call in answer.calls
        ]
    return message


def _usage(question: ParsedRequest, answer: SimulatedAnswer) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "prompt_tokens": question.prompt_tokens,
        "completion_tokens": answer.token_count,
        "total_tokens": question.prompt_tokens + answer.token_count,
    }
    if answer.cached_tokens is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": answer.cached_tokens}
    if answer.reasoning:
        usage["completion_tokens_details"] = {"reasoning_tokens": len(answer.reasoning)}
    return usage


# Streams


def _event_start(form: ReplyFormat) -> bytes:
    kind = b"chat.completion.chunk" if form.question.is_chat else b"text_completion"
    return b'data: {"id":%b,"object":"%b","created":%d,"model":%b,"system_fingerprint":"%b","choices":[' % (
        _encode(form.id),
        kind,
        form.created,
        _encode(form.model),
        SIMULATED_MARK.encode(),
    )


def _event_frame(
    form: ReplyFormat, finish_reason: bytes = b"null", logprobs: bytes = b"null"
) -> tuple[bytes, bytes]:
    """Return the bytes of an event before its delta, and the bytes after its delta."""
    field = b"delta" if form.question.is_chat else b"text"
    head = _event_start(form) + b'{"index":0,"%b":' % field
    return head, b',"logprobs":%b,"finish_reason":%b}]}\n\n' % (logprobs, finish_reason)


def _stream_ending(form: ReplyFormat, answer: SimulatedAnswer) -> bytes:
    head, tail = _event_frame(form, _encode(answer.finish_reason))
    ending = head + (b'{"content":""}' if form.question.is_chat else b'""') + tail
    if form.question.include_usage:
        ending += _event_start(form) + b'],"usage":%b}\n\n' % _encode(_usage(form.question, answer))
    return ending + b"data: [DONE]\n\n"


def _enclosed(head: bytes, middles: Iterator[bytes], tail: bytes) -> Iterator[bytes]:
    """Yield, for each element of `middles`, the bytes of `head`, the element and `tail`, joined.

    For speed, this uses iterators in C, because it runs for every token.
    """
    return map(b"".join, zip(repeat(head), middles, repeat(tail), strict=False))


def _chat_deltas(form: ReplyFormat, answer: SimulatedAnswer) -> Iterator[bytes]:
    channels = (
        (form.reasoning_field, answer.reasoning),
        ("content", answer.text),
        ("refusal", answer.refusal),
    )
    texts = [
        _enclosed(b'{"%b":' % field.encode(), map(_encode, said), b"}") for field, said in channels if said
    ]
    return chain(*texts, *(_call_deltas(index, call) for index, call in enumerate(answer.calls)))


def _call_deltas(index: int, call: SimulatedCall) -> Iterator[bytes]:
    opening = {"name": call.name, "arguments": ""}
    yield _encode({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": opening}]})
    for fragment in call.arguments:
        yield _encode({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]})


def _events_with_logprobs(
    form: ReplyFormat, answer: SimulatedAnswer, deltas: Iterator[bytes]
) -> Iterator[bytes]:
    """Yield events with log-probabilities for the tokens of the text. Tokens on other channels have none."""
    before = len(answer.reasoning)
    offset = 0
    for position, delta in enumerate(deltas):
        index = position - before
        tokens = answer.text[index : index + 1] if index >= 0 else []
        logprobs = token_logprobs(form.question, tokens, offset) if tokens else None
        offset += sum(map(len, tokens))
        head, tail = _event_frame(form, logprobs=_encode(logprobs))
        yield head + delta + tail
