"""Feeding the meter by hand, each piece with the moment at which it is said to have come."""

from __future__ import annotations

import json
from typing import Any

from tests.endpoint.http_kit import DONE, event

from benchwright.endpoint.meter import AnswerMeter
from benchwright.endpoint.reply import Reply

STREAM = [(b"content-type", b"text/event-stream; charset=utf-8")]
JSON = [(b"content-type", b"application/json")]


def streamed(*chunks: Any, done: bool = True) -> AnswerMeter:
    """The meter after a stream that it has read; the first chunk came at 100, the second at 200, and so on."""
    meter = AnswerMeter()
    meter.receive_head(200, STREAM, 50)
    for number, chunk in enumerate(chunks, 1):
        meter.receive_data(event(chunk), 100 * number)
    if done:
        meter.receive_data(DONE, 100 * len(chunks) + 100)
    meter.parse_waiting_pieces()
    return meter


def whole(answer: Any) -> AnswerMeter:
    """The meter after an answer that was not streamed: bytes as they are, all else as JSON."""
    meter = AnswerMeter()
    meter.receive_head(200, JSON, 50)
    meter.receive_data(answer if isinstance(answer, bytes) else json.dumps(answer).encode(), 100)
    return meter


def reply_of(*chunks: Any, done: bool = True) -> Reply:
    """What a stream amounts to."""
    return streamed(*chunks, done=done).finish_reply()
