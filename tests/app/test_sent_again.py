"""Requests that were sent again, as the server had closed an idle connection: counted, with the time that was lost."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from tests.app.app_kit import Program
from tests.app.load.load_kit import measure, prompts
from tests.http_server import QuietHandler, served_by

LOST = 0.15
ANSWER = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "word0"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
}


@pytest.fixture
def closing() -> Iterator[str]:
    """Answers a connection once; closes it upon the next request, some time after that was sent."""

    class Handler(QuietHandler):
        answered = 0

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            if self.answered:
                time.sleep(LOST)
                self.close_connection = True
                return
            self.answered += 1
            self.answer(200, json.dumps(ANSWER).encode())

    with served_by(Handler) as address:
        yield f"{address}/v1"


def test_an_evaluation_counts_them_and_their_times_are_those_of_the_last_sending(
    program: Program, closing: str
) -> None:
    ended = program.run(*program.evaluating(program.rows(6), closing, "--concurrency", "1", "--no-probe"))
    assert ended.returncode == 0, ended.stderr
    (target,) = program.summary("show", program.only_run.name).targets
    requests = target.requests
    assert requests.resent_requests == 5
    assert LOST <= requests.longest_lost_seconds < LOST + 0.5
    assert requests.dispatch_lag_p99 is not None
    assert requests.dispatch_lag_p99 < LOST, "the server lost that time, not we"
    assert requests.latency_p50 is not None
    assert requests.latency_p50 < LOST
    told = " ".join(ended.stdout.split())
    assert "5 requests sent again because the server had closed an idle connection: at most 1" in told


def test_a_level_of_load_says_what_of_the_ttft_it_was(program: Program, closing: str) -> None:
    rows = prompts(program, [f"question {number}" for number in range(20)])
    report = measure(
        program, closing, "--dataset", rows, "--requests", "20", "--warmup", "0", "--no-metrics", "--no-probe"
    )
    (level,) = report.levels
    assert level.lost is not None
    assert level.lost.n == 19
    assert LOST <= level.lost.p50.value < LOST + 0.2
    assert level.latency is not None
    assert level.latency.p50.value > LOST, "who waits for the answer waits for that, too"
    assert any("19 requests of 20 had to be sent again" in note for note in report.notes)


def test_connections_that_stay_open_are_not_spoken_of(program: Program, echo: str) -> None:
    program.run(*program.evaluating(program.rows(6), echo))
    (target,) = program.summary("show", program.only_run.name).targets
    assert (target.requests.resent_requests, target.requests.longest_lost_seconds) == (0, 0)
