"""A server that speaks as much of Anthropic's Messages API as one question and its answer need.

https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.http_server import QuietHandler, served_by


class AnthropicServer:
    """Answers as `answer` says; `requests` counts the questions that came with the right key."""

    def __init__(self, key: str, answer: Callable[[str], str]) -> None:
        self.requests = 0
        self.key = key
        self.answer = answer
        self.base_url = ""

    def reply(self, key: str | None, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if key != self.key:
            error = {"type": "authentication_error", "message": "invalid x-api-key"}
            return 401, {"type": "error", "error": error}
        self.requests += 1
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else "".join(part["text"] for part in content)
        return 200, {
            "id": f"msg_{self.requests}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": self.answer(text)}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 9, "output_tokens": 3},
        }


@contextmanager
def anthropic_server(key: str, answer: Callable[[str], str]) -> Iterator[AnthropicServer]:
    """Serves on a free port, in a thread."""
    served = AnthropicServer(key, answer)

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, reply = served.reply(self.headers["x-api-key"], body)
            self.answer(status, json.dumps(reply).encode())

    with served_by(Handler) as served.base_url:
        yield served
