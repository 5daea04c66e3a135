"""A stream of chat completions in the form that quirks rewrite: a list of pieces, each a list of chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Chunk = dict[str, Any]

ChunkStream = list[list[Chunk]]
"""The pieces of a stream, which are sent one by one. Each piece is a list of chunks."""


def stream_choices(stream: ChunkStream) -> Iterator[dict[str, Any]]:
    """Yield the choices of all chunks."""
    for piece in stream:
        for chunk in piece:
            yield from chunk["choices"]


def stream_deltas(stream: ChunkStream) -> Iterator[dict[str, Any]]:
    """Yield the deltas of all chunks."""
    for choice in stream_choices(stream):
        if "delta" in choice:
            yield choice["delta"]


def text_deltas(stream: ChunkStream) -> list[dict[str, Any]]:
    """Return the deltas that hold text of the answer."""
    return [delta for delta in stream_deltas(stream) if delta.get("content")]


def stream_text(stream: ChunkStream) -> str:
    """Return the whole text of a stream's answer."""
    return "".join(delta["content"] for delta in text_deltas(stream))


def body_message(body: Chunk) -> dict[str, Any]:
    """Return the message of a whole answer."""
    message: dict[str, Any] = body["choices"][0]["message"]
    return message


def insert_before_end(stream: ChunkStream, delta: dict[str, Any]) -> None:
    """Insert a chunk with this delta before the chunk with the finish reason."""
    for piece in stream:
        for place, chunk in enumerate(piece):
            if chunk["choices"] and chunk["choices"][0]["finish_reason"]:
                choice = {**chunk["choices"][0], "delta": delta, "finish_reason": None}
                piece.insert(place, {**chunk, "choices": [choice]})
                return


def stream_and_body_functions(
    change: Callable[[dict[str, Any]], None],
) -> tuple[Callable[[ChunkStream], None], Callable[[Chunk], None]]:
    """Return (function for a stream, function for a whole answer).

    The first applies `change` to each delta of a stream. The second applies `change` to the message of a
    whole answer.
    """

    def in_stream(stream: ChunkStream) -> None:
        for delta in stream_deltas(stream):
            change(delta)

    return in_stream, lambda body: change(body_message(body))
