"""What the tests of `load` share: measuring by the command, and a server that is slow or fails as its prompts say."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
from tests.app.app_kit import Program

from benchwright.reports.load.records import LoadReport

SLOW_SECONDS = 1.0


def measure(program: Program, base_url: str, *arguments: str) -> LoadReport:
    """Measures with `--json`, which must end well."""
    ended = program.run("load", "--model", "m", "--base-url", base_url, *arguments, "--json", "-q")
    assert ended.returncode == 0, ended.stderr
    return msgspec.json.decode(ended.stdout, type=LoadReport)


def prompts(program: Program, texts: Sequence[str], name: str = "rows.jsonl") -> str:
    """Writes a dataset of prompts; returns its name."""
    (program.directory / name).write_text("".join(json.dumps({"prompt": text}) + "\n" for text in texts))
    return name


def key(count: int) -> list[dict[str, str]]:
    """The answer key of `Program.rows`."""
    return [{"prompt": f"word{number}", "answer": f"word{number}"} for number in range(count)]


def runs_of(program: Program, report: LoadReport) -> list[Path]:
    """The directories of a measurement's runs, in the order of its levels."""
    return [program.home / "runs" / level.run for level in report.levels]


@contextmanager
def scripted_server() -> Iterator[str]:
    """Answers "ok": after a second where the prompt says slow, not at all where it says bad. Yields its base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            prompt = body["messages"][-1]["content"]
            if "slow" in prompt:
                time.sleep(SLOW_SECONDS)
            bad = "bad" in prompt
            self.answer(500 if bad else 200, {"error": {"message": "no"}} if bad else self.completion())

        def completion(self) -> dict[str, Any]:
            message = {"role": "assistant", "content": "ok"}
            usage = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
            return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}

        def answer(self, status: int, document: dict[str, Any]) -> None:
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
