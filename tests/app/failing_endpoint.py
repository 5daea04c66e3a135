"""An endpoint that goes down in mid-run: it answers so many requests, and 500 to all that come after."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.http_server import QuietHandler, served_by


@contextmanager
def endpoint(models: Sequence[str] = ("m",), answers: int = 1000) -> Iterator[str]:
    """Lists these models, answers with the last message's text, and knows no other model; yields its base URL."""
    left = threading.Semaphore(answers)

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            listed = [{"id": name, "object": "model"} for name in models]
            self.answer(200, json.dumps({"object": "list", "data": listed}).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if body["model"] not in models:
                self.refuse(404, f"no model {body['model']}")
            elif not left.acquire(blocking=False):
                self.refuse(500, "out of memory")
            else:
                self.say(body["messages"][-1]["content"])

        def say(self, text: str) -> None:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            self.answer(200, json.dumps({"id": "x", "choices": [choice], "usage": usage}).encode())

        def refuse(self, status: int, message: str) -> None:
            self.answer(status, json.dumps({"error": {"message": message}}).encode())

    with served_by(Handler) as address:
        yield f"{address}/v1"
