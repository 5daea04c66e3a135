"""A server that speaks as much of Anthropic's Messages API as one question and its answer need.

https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, reply = served.reply(self.headers["x-api-key"], body)
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    served.base_url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
