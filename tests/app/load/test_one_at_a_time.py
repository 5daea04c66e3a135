"""A server that serves one request at a time is seen as such, by `load` and where the concurrency finds itself."""

from __future__ import annotations

import heapq
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.app.app_kit import Program
from tests.app.load.load_kit import measure
from tests.app.load.test_open_loop_rates import Server, asked
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.records import LoadReport
from benchwright.analysis.load.requests import LevelRequests
from benchwright.analysis.load.sequential_server import count_sequential_streams

SAYS = "The server serves one request at a time: "
LOAD = ("--synthetic-input", "5", "--no-metrics", "--no-probe", "--warmup", "4")
WORDS = ("--ttft", "20ms", "--itl", "5ms", "--policy", "words", "--words", "16")


def said(report: LoadReport) -> list[str]:
    return [note for note in report.notes if note.startswith(SAYS)]


def test_it_is_said_with_how_little_more_requests_gain(program: Program) -> None:
    with simulated_endpoint("--ttft", "150ms", "--slots", "1") as url:
        report = measure(program, url, *LOAD, "--concurrency", "1,4", "--requests", "30", "--no-stream")
    (note,) = said(report)
    found = re.search(
        r"with 4 in flight it answered (.*) times as many per second as with 1, and each took (.*) t", note
    )
    assert found is not None
    assert float(found[1]) == pytest.approx(1, abs=0.15)
    assert float(found[2]) == pytest.approx(4, rel=0.2)
    assert "llama-server -np" in note


def test_one_level_shows_it_by_its_streams(program: Program) -> None:
    with simulated_endpoint(*WORDS, "--slots", "1") as url:
        report = measure(program, url, *LOAD, "--concurrency", "4", "--requests", "40")
    (note,) = said(report)
    assert (
        "of 40 answers none began while another one was being sent, with up to 4 requests in flight" in note
    )


def test_so_does_an_open_loop(program: Program) -> None:
    with simulated_endpoint(*WORDS, "--slots", "1") as url:
        report = measure(program, url, *LOAD, "--rate", "15", "--requests", "45")
    assert said(report)


@pytest.mark.parametrize("slots", ["2", "4"])
@pytest.mark.parametrize("stream", [(), ("--no-stream",)], ids=["streamed", "whole"])
def test_a_server_of_a_few_slots_is_not_taken_for_one(
    program: Program, slots: str, stream: tuple[str, ...]
) -> None:
    with simulated_endpoint(*WORDS, "--slots", slots) as url:
        load = (*LOAD, *stream, "--requests", "40")
        report = measure(program, url, *load, "--concurrency", "1,4,8")
    assert not said(report)


def streamed(
    slots: int, in_flight: int, prefill: float, decode: float, spread: float, seed: int
) -> LevelRequests:
    """A closed loop of 60 streams, as a server of so many slots makes it."""
    generator = np.random.default_rng(seed)
    free, ready, moments = [0.0] * slots, [0.0] * in_flight, []
    for _ in range(60):
        due = heapq.heappop(ready)
        first = max(due, heapq.heappop(free)) + prefill * float(np.exp(generator.normal(0, spread)))
        end = first + decode * float(np.exp(generator.normal(0, spread)))
        heapq.heappush(free, end)
        heapq.heappush(ready, end)
        moments.append((due, first, end))
    sent, begun, over = (np.array(column) for column in zip(*sorted(moments), strict=True))
    drawn = asked(Server(None, 1.0), 1, 60, poisson=False, seed=0)
    took = over - sent
    return drawn._replace(
        intended=sent,
        start=sent,
        end=over,
        latency=took,
        sent_latency=took,
        last_token=took,
        ttft=begun - sent,
        itl=(over - begun) / 15,
    )


@given(st.integers(2, 12), st.floats(0.0, 0.5), st.floats(0.2, 2), st.floats(0.0, 0.8), st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_streams_one_after_the_other_are_known_as_such(
    in_flight: int, prefill: float, decode: float, spread: float, seed: int
) -> None:
    assume(decode >= prefill)  # with shorter streams, that none overlaps may be chance
    assert count_sequential_streams(streamed(1, in_flight, prefill, decode, spread, seed)) == 60


@given(
    st.integers(2, 8),
    st.integers(2, 12),
    st.floats(0.001, 2),
    st.floats(0.001, 2),
    st.floats(0.05, 0.8),
    st.integers(0, 1000),
)
@settings(max_examples=200, deadline=None)
def test_a_server_that_serves_several_is_never_taken_for_one(
    slots: int, in_flight: int, prefill: float, decode: float, spread: float, seed: int
) -> None:
    assert count_sequential_streams(streamed(slots, in_flight, prefill, decode, spread, seed)) is None


@pytest.mark.parametrize("slots", [1, 4])
def test_the_concurrency_that_finds_itself_says_so(program: Program, slots: int) -> None:
    with simulated_endpoint("--ttft", "100ms", "--slots", str(slots)) as url:
        ended = program.run(*program.evaluating(program.rows(120), url, "--concurrency", "auto"))
    assert ended.returncode == 0, ended.stderr
    assert (SAYS in ended.stderr) is (slots == 1)
    (target,) = program.summary("show", program.only_run.name).targets
    found = target.requests.one_at_a_time
    assert (found is not None) is (slots == 1)
    assert (SAYS in " ".join(program.run("show", program.only_run.name).stdout.split())) is (slots == 1)
    if found is not None:
        assert found.in_flight == 2
        assert found.gain < 1.15
        assert found.slower == pytest.approx(2, rel=0.25)


def test_slow_grading_is_not_taken_for_a_slow_server(program: Program) -> None:
    """Two trials at once end no sooner than one after the other, as a function of the user's blocks our process."""
    program.write(
        "slow.py",
        "import time\n\ndef score(solution_str, ground_truth, **more):\n    time.sleep(0.03)\n    return 1.0\n",
    )
    with simulated_endpoint("--ttft", "5ms") as url:
        ended = program.run(
            *("eval", "-d", program.rows(80), "--eval-fn", "slow:score", "--model", "m", "--base-url", url),
            *("--concurrency", "auto", "--scorer", "exact"),
        )
    assert SAYS not in ended.stderr
