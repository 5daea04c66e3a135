"""Seeded delays, and the truth that the endpoint keeps of its own timing."""

from __future__ import annotations

import asyncio
import json
import math
import random
import statistics
import time
from itertools import islice
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint.simulate.simulate_kit import Simulate

from benchwright.endpoint.simulate import Delay, read_truth
from benchwright.endpoint.simulate.timing import DelayTable, Scheduler
from benchwright.errors import UserError


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("50", Delay("constant", 50.0)),
        ("uniform:10", Delay("uniform", 10.0)),
        ("lognormal:10:0.3", Delay("lognormal", 10.0, 0.3)),
    ],
)
def test_delays_are_written_as_mean_or_kind_and_mean(text: str, delay: Delay) -> None:
    assert Delay.parse(text) == delay


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("0", Delay("constant", 0.0)),
        ("0.5", Delay("constant", 500.0)),
        ("50ms", Delay("constant", 50.0)),
        ("uniform:2s", Delay("uniform", 2000.0)),
        ("lognormal:10ms:0.3", Delay("lognormal", 10.0, 0.3)),
    ],
)
def test_or_in_seconds_and_with_a_unit(text: str, delay: Delay) -> None:
    assert Delay.parse_seconds(text) == delay


@pytest.mark.parametrize(
    "text", ["", "fast", "50m", "normal:10ms", "uniform:10ms:0.5:1", "uniform:", "-5ms", "nan"]
)
def test_other_times_are_a_user_error(text: str) -> None:
    with pytest.raises(UserError):
        Delay.parse_seconds(text)


@pytest.mark.parametrize(
    "text", ["", "fast", "normal:10", "uniform:10:0.5:1", "uniform:", "-5", "nan", "uniform:10:2"]
)
def test_other_delays_are_a_user_error(text: str) -> None:
    with pytest.raises(UserError):
        Delay.parse(text)


@given(st.sampled_from(["constant", "uniform", "lognormal"]), st.floats(0, 1000), st.floats(0, 1))
def test_the_mean_is_the_mean(
    kind: Literal["constant", "uniform", "lognormal"], mean: float, spread: float
) -> None:
    rng = random.Random(1)
    draws = [Delay(kind, mean, spread).draw_ms(rng) for _ in range(4000)]

    error = 5 * statistics.pstdev(draws) / math.sqrt(len(draws))
    assert statistics.fmean(draws) == pytest.approx(mean, abs=error + 1e-6)
    assert min(draws) >= 0


def test_what_a_request_gets_depends_on_the_seed_and_its_number_alone() -> None:
    def draws(seed: str, number: int) -> list[float]:
        return list(islice(DelayTable(Delay("uniform", 10.0), seed).request_delays(number), 20))

    assert draws("1", 3) == draws("1", 3)
    assert draws("1", 3) != draws("1", 4)
    assert draws("1", 3) != draws("2", 3)


class Ticker:
    """A task that notes when it was stepped, a few milliseconds apart."""

    def __init__(self, steps: int, gap_ns: int) -> None:
        self.lateness: list[int] = []
        self.steps = steps
        self.gap = gap_ns
        self.due = time.perf_counter_ns() + gap_ns

    def step(self, horizon: int) -> int | None:
        self.lateness.append(time.perf_counter_ns() - self.due)
        self.due += self.gap
        return self.due if len(self.lateness) < self.steps else None


async def test_the_scheduler_steps_each_task_at_its_own_pace() -> None:
    scheduler = Scheduler(asyncio.get_running_loop())
    tickers = [Ticker(5, 2_000_000), Ticker(2, 7_000_000), Ticker(3, 3_000_000)]
    for ticker in tickers:
        scheduler.add(ticker.due, ticker)
    while any(len(ticker.lateness) < ticker.steps for ticker in tickers):
        await asyncio.sleep(0.001)

    assert all(lateness > -1_000_000 for ticker in tickers for lateness in ticker.lateness)
    scheduler.stop()


async def test_a_stopped_scheduler_does_nothing_more() -> None:
    scheduler = Scheduler(asyncio.get_running_loop())
    ticker = Ticker(5, 1_000_000)
    scheduler.add(ticker.due, ticker)
    scheduler.stop()
    await asyncio.sleep(0.01)

    assert ticker.lateness == []


def test_tokens_come_when_they_are_due(simulate: Simulate) -> None:
    client = simulate(first_token=Delay(mean_ms=60), between_tokens=Delay(mean_ms=20))
    client.chat("one two three", stream=True)

    (truth,) = client.log
    assert truth.first_byte - truth.received < truth.first_token - truth.received
    assert truth.first_token - truth.received >= 59e6
    assert truth.last_byte - truth.received >= 99e6


def test_a_whole_answer_takes_as_long_as_its_stream(simulate: Simulate) -> None:
    client = simulate(first_token=Delay(mean_ms=30), between_tokens=Delay(mean_ms=10))
    client.chat("one two three")

    (truth,) = client.log
    assert truth.first_byte == truth.first_token == truth.last_byte
    assert truth.last_byte - truth.received >= 49e6


def test_the_truth_lies_between_what_the_client_sees(simulate: Simulate) -> None:
    client = simulate(first_token=Delay(mean_ms=20), between_tokens=Delay(mean_ms=5))
    body = json.dumps({"messages": [{"role": "user", "content": "one two"}], "stream": True}).encode()
    request = client.request_bytes(
        body, f"Content-Length: {len(body)}", "X-Request-Id: r1", "Connection: close"
    )
    with client.open_socket() as connection:
        sent = time.perf_counter_ns()
        connection.sendall(request)
        response, first_token_seen = b"", 0
        while piece := connection.recv(65536):
            response += piece
            if not first_token_seen and b'"one"' in response:
                first_token_seen = time.perf_counter_ns()
        ended = time.perf_counter_ns()

    (truth,) = client.log
    assert truth.id == "r1"
    assert truth.path == "/v1/chat/completions"
    assert sent < truth.received < truth.first_byte < truth.first_token < first_token_seen
    assert truth.first_token <= truth.last_byte < ended
    assert (truth.status, truth.fault, truth.tokens, truth.complete) == (200, None, 2, True)


def test_an_answer_that_its_client_left_is_told_apart(simulate: Simulate) -> None:
    client = simulate(policy="words", words=1000, between_tokens=Delay(mean_ms=5))
    body = b'{"messages": [{"role": "user", "content": "q"}], "stream": true}'
    with client.open_socket() as connection:
        connection.sendall(client.request_bytes(body, f"Content-Length: {len(body)}"))
        assert connection.recv(1000)
    while client.stats.running:
        time.sleep(0.01)

    (truth,) = client.log
    assert not truth.complete
    assert 1 <= truth.tokens < 1000
    assert client.stats.aborted == 1


def test_a_client_that_does_not_read_is_waited_for(simulate: Simulate) -> None:
    client = simulate(policy="words", words=200_000)
    body = b'{"messages": [{"role": "user", "content": "q"}], "stream": true}'
    with client.open_socket() as connection:
        connection.sendall(client.request_bytes(body, f"Content-Length: {len(body)}", "Connection: close"))
        time.sleep(0.3)
        response = client.read_to_end(connection)

    assert response.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")


def test_the_log_file_has_a_line_per_request(simulate: Simulate, tmp_path: Path) -> None:
    path = tmp_path / "truth.jsonl"
    client = simulate(truth_file=str(path))
    client.chat("one two", {"X-Request-Id": "a"})
    client.ask("GET", "/nowhere")
    log = client.log
    client.stop()

    first, second = read_truth(path)
    assert (first.id, first.tokens, first.status) == ("a", 2, 200)
    assert (second.path, second.status, second.complete) == ("/nowhere", 404, False)
    assert [first, second] == log


def test_only_the_last_requests_are_kept_in_memory(simulate: Simulate) -> None:
    client = simulate(truth_kept=2)
    for number in range(5):
        client.chat("hi", {"X-Request-Id": str(number)})

    assert [truth.id for truth in client.log] == ["3", "4"]


def test_a_log_that_cannot_be_written_is_a_user_error(tmp_path: Path) -> None:
    from benchwright.endpoint.simulate import Settings, SimulatedEndpoint

    async def enter() -> None:
        async with SimulatedEndpoint(Settings(truth_file=str(tmp_path))):
            pass

    with pytest.raises(UserError, match="truth log"):
        asyncio.run(enter())
