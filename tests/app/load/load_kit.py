"""What the tests of `load` share: measuring by the command, and a server that is slow or fails as its prompts say."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from tests.app.app_kit import Program
from tests.http_server import QuietHandler, served_by

from benchwright.analysis.load.records import LevelResult, LoadReport

SLOW_SECONDS = 1.0
FAILING = 13


def measure(program: Program, base_url: str, *arguments: str) -> LoadReport:
    """Measures with `--json`, which must end well."""
    ended = program.run("load", "--model", "m", "--base-url", base_url, *arguments, "--json", "-q")
    assert ended.returncode == 0, ended.stderr
    return msgspec.json.decode(ended.stdout, type=LoadReport)


def rate(level: LevelResult) -> float:
    """Answers per second."""
    assert level.achieved is not None
    return level.achieved.value


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

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            prompt = body["messages"][-1]["content"]
            if "slow" in prompt:
                time.sleep(SLOW_SECONDS)
            bad = "bad" in prompt
            document = {"error": {"message": "no"}} if bad else self.completion()
            self.answer(500 if bad else 200, json.dumps(document).encode())

        def completion(self) -> dict[str, Any]:
            message = {"role": "assistant", "content": "ok"}
            usage = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
            return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}

    with served_by(Handler) as address:
        yield f"{address}/v1"


class Heard(NamedTuple):
    """A request as a server had it: when it came and when its answer was sent (`perf_counter`), and its body."""

    came: float
    answered: float
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])


@contextmanager
def listening_server(seconds: float = 0.0) -> Iterator[tuple[str, list[Heard]]]:
    """Answers after so long, with as many words as asked for; a word is a token. Yields its base URL and what it heard.

    An answer of `FAILING` words fails. The two requests that calibrate are not among what it heard.
    """
    heard = list[Heard]()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            came, limit = time.perf_counter(), body.get("max_tokens", 4)
            time.sleep(seconds if limit > 1 else 0)
            sent = sum(len(str(message["content"]).split()) for message in body["messages"])
            message = {"role": "assistant", "content": " ".join(["word"] * limit)}
            usage = {"prompt_tokens": sent, "completion_tokens": limit, "total_tokens": sent + limit}
            choice = {"index": 0, "message": message, "finish_reason": "length"}
            if limit > 1:
                heard.append(Heard(came, time.perf_counter(), body))
            document = (
                {"error": {"message": "no"}} if limit == FAILING else {"choices": [choice], "usage": usage}
            )
            self.answer(500 if limit == FAILING else 200, json.dumps(document).encode())

    with served_by(Handler) as address:
        yield f"{address}/v1", heard
