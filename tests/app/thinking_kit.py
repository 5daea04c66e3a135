"""A server of models that think: it keeps what it was asked, and can refuse a field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.http_server import QuietHandler, served_by

THOUGHT = {"role": "assistant", "content": "", "reasoning_content": "well, let me see"}


class ThinkingServer(NamedTuple):
    """Its base URL, and the bodies of all chat requests so far."""

    base_url: str
    bodies: list[dict[str, Any]]


@contextmanager
def thinking_server(
    message: dict[str, Any] | None = None,
    *,
    finish_reason: str = "stop",
    usage: dict[str, Any] | None = None,
    owner: str = "vllm",
    refused: str | None = None,
) -> Iterator[ThinkingServer]:
    """Answers each request with this message; `owner` is what its list of models says, `refused` a field."""
    bodies: list[dict[str, Any]] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            if self.path == "/v1/models":
                listed = {"data": [{"id": "m", "owned_by": owner}]}
                self.answer(200, json.dumps(listed).encode())
            else:
                self.answer(404, b"{}")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            bodies.append(body)
            if refused is not None and refused in body:
                problem = {"error": {"message": f"Unrecognized request argument supplied: {refused}"}}
                self.answer(400, json.dumps(problem).encode())
                return
            choice = {"index": 0, "message": message or THOUGHT, "finish_reason": finish_reason}
            tokens = usage or {"prompt_tokens": 5, "completion_tokens": 40}
            self.answer(200, json.dumps({"model": "m", "choices": [choice], "usage": tokens}).encode())

    with served_by(Handler) as address:
        yield ThinkingServer(f"{address}/v1", bodies)
