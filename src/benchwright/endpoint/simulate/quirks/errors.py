"""Quirks by which servers report that they failed after their answer began, with status 200."""

from __future__ import annotations

from benchwright.endpoint.simulate.quirks.stream import Chunk, Stream

ERROR = {"message": "The engine is overloaded.", "type": "server_error", "code": 503}
"""The error in place of the answer's end."""


def event(stream: Stream) -> None:
    """Send an error in place of everything behind the first chunk."""
    stream[1:] = [*([] for _ in stream[1:-1]), [{"error": ERROR}]]


def body(answer: Chunk) -> None:
    """Send an error in place of a whole answer."""
    answer.clear()
    answer["error"] = ERROR


def in_choice(stream: Stream) -> None:
    """Send the error within the last choice (OpenRouter)."""
    for chunk in (chunk for piece in stream for chunk in piece):
        if chunk["choices"] and chunk["choices"][0]["finish_reason"]:
            chunk["choices"] = [{**chunk["choices"][0], "finish_reason": "error", "error": ERROR}]


def in_choice_of_body(answer: Chunk) -> None:
    """Send a whole answer without text and with the error within its choice (OpenRouter)."""
    message = {"role": "assistant", "content": ""}
    answer["choices"][0] |= {"message": message, "finish_reason": "error", "error": ERROR}
