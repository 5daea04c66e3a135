"""Quirks of servers that report a failure with status 200, because their answer had already begun.

Each function rewrites its argument in place.
"""

from __future__ import annotations

from benchwright.endpoint.simulate.quirks.stream import Chunk, ChunkStream

OVERLOAD_ERROR = {"message": "The engine is overloaded.", "type": "server_error", "code": 503}
"""Error that is sent in place of the rest of the answer."""


def replace_rest_by_error(stream: ChunkStream) -> None:
    """Replace everything after the first chunk by an error."""
    stream[1:] = [*([] for _ in stream[1:-1]), [{"error": OVERLOAD_ERROR}]]


def replace_body_by_error(answer: Chunk) -> None:
    """Replace a whole answer by an error."""
    answer.clear()
    answer["error"] = OVERLOAD_ERROR


def put_error_in_choice(stream: ChunkStream) -> None:
    """Put an error into the last choice (OpenRouter)."""
    for chunk in (chunk for piece in stream for chunk in piece):
        if chunk["choices"] and chunk["choices"][0]["finish_reason"]:
            chunk["choices"] = [{**chunk["choices"][0], "finish_reason": "error", "error": OVERLOAD_ERROR}]


def put_error_in_choice_of_body(answer: Chunk) -> None:
    """Replace the text of a whole answer by an error in its choice (OpenRouter)."""
    message = {"role": "assistant", "content": ""}
    answer["choices"][0] |= {"message": message, "finish_reason": "error", "error": OVERLOAD_ERROR}
