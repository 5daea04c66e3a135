"""A server that samples like a real one: what it answers depends on the prompt and on the seed it was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from tests.http_server import QuietHandler, served_by


class SamplingServer:
    """Its address, and the bodies it was sent.

    One that does not honour seeds always gives the same answer; if it `thinks`, what it thinks before differs.
    """

    def __init__(self, *, honours_seeds: bool = True, thinks: bool = False) -> None:
        self.base_url = ""
        self.bodies: list[dict[str, Any]] = []
        self._honours_seeds = honours_seeds
        self._thinks = thinks

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a chat completion: a few words that nobody can foresee."""
        self.bodies.append(body)
        drawn = [body["messages"], body.get("seed") if self._honours_seeds else None]
        text = f"drawn {sha256(json.dumps(drawn).encode()).hexdigest()[:12]}"
        thought = {"reasoning_content": f"Thought {len(self.bodies)}."} if self._thinks else {}
        return {
            "id": "c", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text, **thought},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
        }  # fmt: skip


@contextmanager
def sampling_server(*, honours_seeds: bool = True, thinks: bool = False) -> Iterator[SamplingServer]:
    """Such a server."""
    server = SamplingServer(honours_seeds=honours_seeds, thinks=thinks)

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self.answer(200, json.dumps(server.answer(body)).encode())

    with served_by(Handler) as address:
        server.base_url = f"{address}/v1"
        yield server
