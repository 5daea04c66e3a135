"""A server that samples like a real one: what it answers depends on the prompt and on the seed it was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from tests.http_server import QuietHandler, served_by


class SamplingServer:
    """Its address, and the bodies it was sent. One that does not honour seeds always gives the same answer."""

    def __init__(self, *, honours_seeds: bool = True) -> None:
        self.base_url = ""
        self.bodies: list[dict[str, Any]] = []
        self._honours_seeds = honours_seeds

    def seeds(self, prompt: str) -> list[int | None]:
        """The seeds that came with requests in whose last message this text is, in the order of their arrival."""
        return [body.get("seed") for body in self.bodies if prompt in body["messages"][-1]["content"]]

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a chat completion: a few words that nobody can foresee."""
        self.bodies.append(body)
        drawn = [body["messages"], body.get("seed") if self._honours_seeds else None]
        text = f"drawn {sha256(json.dumps(drawn).encode()).hexdigest()[:12]}"
        return {
            "id": "c", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
        }  # fmt: skip


@contextmanager
def sampling_server(*, honours_seeds: bool = True) -> Iterator[SamplingServer]:
    """Such a server."""
    server = SamplingServer(honours_seeds=honours_seeds)

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self.answer(200, json.dumps(server.answer(body)).encode())

    with served_by(Handler) as address:
        server.base_url = f"{address}/v1"
        yield server
