"""What a server refuses under load, or does not tell, is a figure or unknown: never the end of a level, never 0."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from tests.app.app_kit import Program
from tests.app.load.load_kit import measure, prompts, rate
from tests.http_server import QuietHandler, served_by

from benchwright.analysis.load.records import LevelResult


@contextmanager
def server(*, refused: int = 0, told_every: int | None = 1) -> Iterator[str]:
    """Refuses the first requests with 503, and tells the tokens of every so-manieth answer, or of none."""
    numbers = count()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            number = next(numbers)
            if number < refused:
                self.answer(503, json.dumps({"error": {"message": "overloaded"}}).encode())
                return
            message = {"role": "assistant", "content": "ok"}
            answer: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            if told_every is not None and number % told_every == 0:
                answer["usage"] = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
            self.answer(200, json.dumps(answer).encode())

    with served_by(Handler) as address:
        yield f"{address}/v1"


def level(program: Program, url: str) -> LevelResult:
    dataset = prompts(program, [f"word {number}" for number in range(60)])
    load = ("--dataset", dataset, "--concurrency", "4", "--requests", "60", "--warmup", "0", "--no-stream")
    (found,) = measure(program, url, *load, "--no-probe").levels
    return found


def test_a_server_that_sheds_load_at_first_does_not_end_the_level(program: Program) -> None:
    with server(refused=40) as url:
        found = level(program, url)
    assert found.state == "finished"
    assert (found.counted, found.failed) == (60, 40)


def test_tokens_that_are_never_told_are_unknown(program: Program) -> None:
    with server(told_every=None) as url:
        found = level(program, url)
        shown = program.run(
            "load", "--model", "m", "--base-url", url, "--dataset", "rows.jsonl", "--requests", "20"
        )
    assert found.output_tokens is None
    assert "–" in shown.stdout, "where tokens per second would stand"


def test_tokens_of_half_the_answers_stand_for_all(program: Program) -> None:
    with server(told_every=2) as url:
        found = level(program, url)
    assert 0.4 < found.tokens_told < 0.6
    assert found.output_tokens is not None
    assert 0.8 < found.output_tokens.value / (4 * rate(found)) < 1.2
