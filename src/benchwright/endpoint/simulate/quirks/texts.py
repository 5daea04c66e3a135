"""Quirks of the text and the reasoning of an answer. Each function rewrites its argument in place."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from benchwright.endpoint.simulate.quirks.stream import (
    Chunk,
    ChunkStream,
    body_message,
    insert_before_end,
    stream_choices,
    stream_deltas,
    stream_text,
    text_deltas,
)

EXTRA_REASONING = "Let me look at that once more."
"""Reasoning that some quirks add to the reasoning of the settings."""

_HARMONY = (
    f"<|channel|>analysis<|message|>{EXTRA_REASONING}<|end|><|start|>assistant<|channel|>final<|message|>"
)
_OPENING, _CLOSING = "<think>", "</think>"

_UNKNOWN = "\ufffd"
_FIRST_BEYOND = "\U00010000"
"""The first character that UTF-16 encodes as a surrogate pair."""


def replace_deltas_by_messages(stream: ChunkStream) -> None:
    """Send a message in place of each delta."""
    for choice in stream_choices(stream):
        choice["message"] = choice.pop("delta")


def send_cumulative_messages(stream: ChunkStream) -> None:
    """Send a message in place of each delta. Each message holds all of the answer so far."""
    accumulate_deltas(stream)
    replace_deltas_by_messages(stream)


def repeat_message_at_end(stream: ChunkStream) -> None:
    """Send the whole message once more, together with the finish reason (MiniMax)."""
    for choice in stream_choices(stream):
        if choice["finish_reason"]:
            choice["delta"] = {}
            choice["message"] = {"role": "assistant", "content": stream_text(stream)}


def add_cumulative_messages(stream: ChunkStream) -> None:
    """Send a message beside each delta. The message holds all of the answer so far (Perplexity)."""
    said = ""
    for choice in stream_choices(stream):
        said += choice["delta"].get("content") or ""
        choice["message"] = {"role": "assistant", "content": said}


def repeat_answer_at_end(stream: ChunkStream) -> None:
    """Send the whole answer a second time in the last delta (RAGFlow)."""
    if text := stream_text(stream):
        insert_before_end(stream, {"content": text})


def accumulate_deltas(stream: ChunkStream) -> None:
    """Send, in each delta, all of the answer so far (QwenLM)."""
    found = text_deltas(stream)
    for delta, text in zip(found, list(accumulate(delta["content"] for delta in found)), strict=True):
        delta["content"] = text


def send_content_parts(message: dict[str, Any]) -> None:
    """Send text and reasoning as typed parts of the content (Mistral, Databricks)."""
    thought, text = message.pop("reasoning_content", None), message.get("content")
    parts: list[dict[str, Any]] = []
    if thought:
        parts.append({"type": "reasoning", "summary": [{"type": "summary_text", "text": thought}]})
    if text:
        parts.append({"type": "text", "text": text})
    if parts:
        message["content"] = parts


def split_surrogate_pairs(stream: ChunkStream) -> None:
    """Split each surrogate pair over two events (servers that count characters in UTF-16)."""
    for piece in stream:
        for place, chunk in reversed(list(enumerate(piece))):
            before, after = _halved(chunk)
            if after is not None:
                piece[place : place + 1] = [before, after]


def drop_low_surrogates(stream: ChunkStream) -> None:
    """Send only the high surrogate of each surrogate pair, and drop the text after it in the chunk."""
    for piece in stream:
        piece[:] = [_halved(chunk)[0] for chunk in piece]


def _halved(chunk: Chunk) -> tuple[Chunk, Chunk | None]:
    """Split a chunk in the middle of its first surrogate pair, and return both chunks.

    Return (chunk, None) if the chunk has no character that UTF-16 encodes as a surrogate pair.
    """
    choice = chunk["choices"][0] if chunk["choices"] else {}
    text = choice.get("delta", {}).get("content") or ""
    place = next((at for at, character in enumerate(text) if character >= _FIRST_BEYOND), None)
    if place is None:
        return chunk, None
    first, second = _units(text[place])
    begin, end = f"{text[:place]}{first}", f"{second}{text[place + 1 :]}"
    return _with_text(chunk, begin), _with_text(chunk, end)


def _units(character: str) -> tuple[str, str]:
    """Return the high and the low surrogate by which UTF-16 encodes a character."""
    beyond = ord(character) - ord(_FIRST_BEYOND)
    return chr(0xD800 + (beyond >> 10)), chr(0xDC00 + (beyond & 0x3FF))


def _with_text(chunk: Chunk, text: str) -> Chunk:
    choice = chunk["choices"][0]
    return {**chunk, "choices": [{**choice, "delta": {**choice["delta"], "content": text}}]}


def add_end_token(stream: ChunkStream) -> None:
    """Add the token that ends a turn to the text (servers that do not remove that token)."""
    if text_deltas(stream):
        insert_before_end(stream, {"content": "<|im_end|>"})


def add_end_token_in_body(body: Chunk) -> None:
    """Add the token that ends a turn to the text of a whole answer."""
    if text := body_message(body).get("content"):
        body_message(body)["content"] = f"{text}<|im_end|>"


def replace_wide_characters(message: dict[str, Any]) -> None:
    """Replace characters that UTF-16 encodes as surrogate pairs by U+FFFD (servers that decode token by token)."""
    if text := message.get("content"):
        message["content"] = "".join(_UNKNOWN if one >= _FIRST_BEYOND else one for one in text)


# What was thought


def send_reasoning_as_object(message: dict[str, Any]) -> None:
    """Send reasoning as an object with the text in a field."""
    if thought := message.pop("reasoning_content", None):
        message["reasoning"] = {"content": thought}


def rename_reasoning_field(message: dict[str, Any]) -> None:
    """Rename `reasoning_content` to `thinking` (servers that use another field name)."""
    if thought := message.pop("reasoning_content", None):
        message["thinking"] = thought


def send_marked_reasoning(stream: ChunkStream) -> None:
    """Send reasoning as content, with a mark beside it that distinguishes it from the answer (Vertex)."""
    for delta in stream_deltas(stream):
        if thought := delta.pop("reasoning_content", None):
            delta |= {"content": thought, "extra_content": {"google": {"thought": True}}}


def insert_late_reasoning(stream: ChunkStream) -> None:
    """Insert a second block of reasoning into the text, before the end of the answer."""
    if found := text_deltas(stream)[1:]:
        found[-1]["content"] = f"{_OPENING}{EXTRA_REASONING}{_CLOSING}{found[-1]['content']}"


def insert_late_reasoning_in_body(body: Chunk) -> None:
    """Insert a second block of reasoning before the last word of a whole answer."""
    before, blank, last = (body_message(body).get("content") or "").rpartition(" ")
    if blank:
        body_message(body)["content"] = f"{before}{_OPENING}{EXTRA_REASONING}{_CLOSING}{blank}{last}"


def add_channel_tokens(stream: ChunkStream) -> None:
    """Add the channel tokens of gpt-oss to the text (servers that do not remove these tokens)."""
    if found := text_deltas(stream):
        found[0]["content"] = f"{_HARMONY}{found[0]['content']}"
        found[-1]["content"] += "<|return|>"


def add_channel_tokens_in_body(body: Chunk) -> None:
    """Add the channel tokens of gpt-oss to the text of a whole answer."""
    if text := body_message(body).get("content"):
        body_message(body)["content"] = f"{_HARMONY}{text}<|return|>"


def move_answer_to_reasoning(message: dict[str, Any]) -> None:
    """Send the answer as reasoning (LM Studio, vLLM with a wrong reasoning parser)."""
    if text := message.get("content"):
        message["content"], message["reasoning_content"] = None, text


def copy_answer_to_reasoning(message: dict[str, Any]) -> None:
    """Send the same text as answer and as reasoning."""
    if text := message.get("content"):
        message["reasoning_content"] = text


def repeat_reasoning_in_text(stream: ChunkStream) -> None:
    """Send the reasoning in its own field and also within the text."""
    thought = "".join(delta.get("reasoning_content") or "" for delta in stream_deltas(stream))
    if thought and (found := text_deltas(stream)):
        found[0]["content"] = f"{_OPENING}{thought}{_CLOSING}{found[0]['content']}"


def repeat_reasoning_in_text_of_body(body: Chunk) -> None:
    """Send the reasoning of a whole answer in its own field and also within the text."""
    if thought := body_message(body).get("reasoning_content"):
        body_message(body)["content"] = (
            f"{_OPENING}{thought}{_CLOSING}{body_message(body).get('content') or ''}"
        )


def make_tagged_reasoning_quirk(
    opening: str, closing: str
) -> tuple[Callable[[ChunkStream], None], Callable[[Chunk], None]]:
    """Return the two functions of a quirk: (function for a stream, function for a whole answer).

    The quirk moves the reasoning from its field to the beginning of the text, between two tags.
    """

    def in_stream(stream: ChunkStream) -> None:
        with_thought = [delta for delta in stream_deltas(stream) if delta.get("reasoning_content")]
        for delta in with_thought:
            delta["content"] = delta.pop("reasoning_content")
        if with_thought:
            with_thought[0]["content"] = f"{opening}{with_thought[0]['content']}"
            with_thought[-1]["content"] += closing

    def in_body(body: Chunk) -> None:
        message = body_message(body)
        if thought := message.pop("reasoning_content", None):
            message["content"] = f"{opening}{thought}{closing}{message.get('content') or ''}"

    return in_stream, in_body
