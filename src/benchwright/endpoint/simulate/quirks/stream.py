"""A stream of chat completions as a quirk rewrites it: the chunks of each piece, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Chunk = dict[str, Any]

Stream = list[list[Chunk]]
"""The chunks of each piece that is sent by itself."""


def choices(stream: Stream) -> Iterator[dict[str, Any]]:
    """Yield the choice of each chunk that has one."""
    for piece in stream:
        for chunk in piece:
            yield from chunk["choices"]


def deltas(stream: Stream) -> Iterator[dict[str, Any]]:
    """Yield the delta of each chunk that has one."""
    for choice in choices(stream):
        if "delta" in choice:
            yield choice["delta"]


def texts(stream: Stream) -> list[dict[str, Any]]:
    """Return the deltas that have a piece of the answer's text."""
    return [delta for delta in deltas(stream) if delta.get("content")]


def text_of(stream: Stream) -> str:
    """Return the text of the answer."""
    return "".join(delta["content"] for delta in texts(stream))


def message_of(body: Chunk) -> dict[str, Any]:
    """Return the message of a whole answer."""
    message: dict[str, Any] = body["choices"][0]["message"]
    return message


def insert_before_end(stream: Stream, delta: dict[str, Any]) -> None:
    """Add a delta before the chunk that says why the answer ended."""
    for piece in stream:
        for place, chunk in enumerate(piece):
            if chunk["choices"] and chunk["choices"][0]["finish_reason"]:
                choice = {**chunk["choices"][0], "delta": delta, "finish_reason": None}
                piece.insert(place, {**chunk, "choices": [choice]})
                return


def in_both(
    change: Callable[[dict[str, Any]], None],
) -> tuple[Callable[[Stream], None], Callable[[Chunk], None]]:
    """Return what changes each delta of a stream, and the message of a body, by the same function."""

    def in_stream(stream: Stream) -> None:
        for delta in deltas(stream):
            change(delta)

    return in_stream, lambda body: change(message_of(body))
