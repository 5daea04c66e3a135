"""A model server that sends prepared answers, for one scenario at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from benchwright.endpoint.serving.connection import ServerConnection
from benchwright.endpoint.serving.http import Headers, HttpRequest, json_response, response_head
from benchwright.endpoint.serving.listener import LOOPBACK_HOST, base_url, listen, start_server, stop_server
from benchwright.records import DECODE_ERRORS

EVENT_STREAM_HEADERS = ((b"content-type", b"text/event-stream"),)
CANNED_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}

ServerBehavior = Literal["answers", "fails", "is silent"]


class CannedModel:
    """The server, at a free port of this machine. Use it as an async context manager.

    `turns`: the messages for the next requests; the last message is repeated. `conduct`: what the server does
    with each request: answer it, fail it with HTTP 500, or never answer it. `request_count`: the number of
    requests received.
    """

    headers: Headers = ()
    name = "canned-model"

    def __init__(self) -> None:
        self.base_url = ""
        self.behavior: ServerBehavior = "answers"
        self.turns: Sequence[dict[str, Any]] = ()
        self.request_count = 0
        self.connections: set[ServerConnection] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> CannedModel:
        listener = listen(LOOPBACK_HOST, 0)
        self.base_url = base_url(listener)
        self._server = await start_server(self, listener)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        await stop_server(self, self._server)

    def set_answers(self, turns: Sequence[dict[str, Any]], conduct: ServerBehavior = "answers") -> None:
        """Set the messages with which the next requests are answered, and reset the count of requests."""
        self.turns, self.behavior, self.request_count = turns, conduct, 0

    def handle(self, connection: ServerConnection, request: HttpRequest) -> _Given:
        """Return the response to a request according to `turns` and `conduct`."""
        given = _Given()
        if request.path.rstrip(b"/").endswith(b"/models"):
            listed = {"object": "list", "data": [{"id": self.name, "object": "model"}]}
            given.send(connection, json_response(200, (), msgspec.json.encode(listed), keep_alive=True))
            return given
        turn = self.turns[min(self.request_count, len(self.turns) - 1)] if self.turns else {"content": ""}
        self.request_count += 1
        if self.behavior == "fails":
            error = msgspec.json.encode({"error": {"message": "the server fails, as it was told to"}})
            given.send(connection, json_response(500, (), error, keep_alive=True))
        elif self.behavior == "answers":
            given.send(connection, _completion(self.name, turn, stream=_wants_stream(request.body)))
        return given

    def close(self) -> None:
        """Close every connection."""
        for connection in list(self.connections):
            connection.close()


class _Given:
    """A prepared response. It is sent at once, or never."""

    is_over = False

    def send(self, connection: ServerConnection, data: bytes) -> None:
        self.is_over = True
        connection.write(data)
        connection.finish_response(True)

    def abandon(self) -> None:
        self.is_over = True

    def resume(self) -> None:
        """Do nothing, because the response is never paused."""


def _wants_stream(body: bytes) -> bool:
    try:
        return bool(msgspec.json.decode(body).get("stream"))
    except (*DECODE_ERRORS, AttributeError):
        return False


def _completion(model: str, turn: dict[str, Any], *, stream: bool) -> bytes:
    """Return the HTTP response with a message, as a whole body or as a stream with one chunk."""
    reason = "tool_calls" if turn.get("tool_calls") else "stop"
    about = {"id": "canned", "created": 0, "model": model}
    if not stream:
        choice = {"index": 0, "message": turn, "finish_reason": reason}
        body = {**about, "object": "chat.completion", "choices": [choice], "usage": CANNED_USAGE}
        return json_response(200, (), msgspec.json.encode(body), keep_alive=True)
    calls = [{"index": at, **call} for at, call in enumerate(turn.get("tool_calls") or [])]
    delta = {**turn, **({"tool_calls": calls} if calls else {})}
    pieces: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": CANNED_USAGE},
    ]
    events = [msgspec.json.encode({**about, "object": "chat.completion.chunk", **piece}) for piece in pieces]
    content = b"".join(b"data: %b\n\n" % event for event in [*events, b"[DONE]"])
    return response_head(200, EVENT_STREAM_HEADERS, length=len(content), keep_alive=True) + content
