"""The rates of an open loop by the one rule of `stats.open_loop`, over servers that are drawn.

rate(x) = (x_1 + … + x_n) / (T + G) of the n requests that were due in the window, T long, where the latency grew by G:
what is offered, answered, and answered within the objectives cannot contradict one another.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.app.app_kit import Program
from tests.app.load.load_kit import measure, rate
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.figures import WindowFigures
from benchwright.analysis.load.level_results import with_window_figures
from benchwright.analysis.load.measurement_windows import FoundWindow, find_window
from benchwright.analysis.load.records import LevelPlan, LevelResult, LoadLevel, Objective
from benchwright.analysis.load.requests import LevelRequests
from benchwright.stats.steady_state import MAX_DRIFT_P_VALUE, estimate_growth

OBJECTIVE = 1.0


class Server(NamedTuple):
    """A server of so many slots (None for no end), whose requests take `seconds`, spread by this share, and fail by
    that."""

    slots: int | None
    seconds: float
    spread: float = 0.0
    failing: float = 0.0


def asked(server: Server, per_second: float, duration: float, *, poisson: bool, seed: int) -> LevelRequests:
    """What becomes of an open loop, drawn in memory."""
    generator = np.random.default_rng(seed)
    number = max(1, round(per_second * duration))
    gaps = generator.exponential(1 / per_second, number) if poisson else np.full(number, 1 / per_second)
    due = np.concatenate([[0.0], np.cumsum(gaps)[:-1]])
    took = server.seconds * np.exp(generator.normal(0, server.spread, number)) if server.spread else None
    service = np.full(number, server.seconds) if took is None else took
    free = [] if server.slots is None else [0.0] * server.slots
    ends = np.empty(number)
    for place, moment in enumerate(due):
        begun = moment if server.slots is None else max(moment, heapq.heappop(free))
        ends[place] = begun + service[place]
        if server.slots is not None:
            heapq.heappush(free, ends[place])
    ok = generator.random(number) >= server.failing
    unknown, tokens, latency = np.full(number, np.nan), np.full(number, 10.0), ends - due
    return LevelRequests(
        intended=due,
        start=due,
        end=ends,
        ttft=latency,
        latency=latency,
        sent_latency=latency,
        itl=unknown,
        ttfa=unknown,
        last_token=latency,
        connect=unknown,
        lost_seconds=unknown,
        chunks=unknown,
        tokens_after_first_chunk=unknown,
        prompt_tokens=tokens,
        completion_tokens=tokens,
        cached_tokens=unknown,
        reasoning_tokens=unknown,
        ok=ok,
        failures=[None if one else "refused" for one in ok],
        gaps=[{}] * number,
        began_at=0,
        simulated=False,
    )


def figures(requests: LevelRequests, per_second: float, **plan: Any) -> tuple[FoundWindow, LevelResult]:
    level = LoadLevel(rate=per_second, arrivals="poisson")
    planned = LevelPlan("load-1", level, objectives=[Objective("latency", OBJECTIVE)], **plan)
    found = find_window(requests, planned)
    assert found is not None
    result = LevelResult(level, "run", "finished", requests.ok.size)
    return found, with_window_figures(
        result, requests, planned, found, WindowFigures(requests, found.window, open_loop=True)
    )


SERVERS = st.builds(
    Server,
    st.sampled_from([None, 1, 4, 30]),
    st.floats(0.01, 8),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([0.0, 0.2, 0.9]),
)


@given(
    SERVERS,
    st.floats(0.5, 60),
    st.floats(2, 40),
    st.booleans(),
    st.integers(0, 1000),
    st.sampled_from([{}, {"window": (0.0, 100.0)}, {"window": (1.0, 20.0)}]),
)
@settings(max_examples=300, deadline=None)
def test_what_meets_the_objectives_was_answered_and_what_was_answered_was_offered(
    server: Server, per_second: float, duration: float, poisson: bool, seed: int, plan: dict[str, Any]
) -> None:
    requests = asked(server, per_second, duration, poisson=poisson, seed=seed)
    assume(requests.intended[-1] >= 1)  # else the given windows leave nothing
    found, level = figures(requests, per_second, **plan)
    if level.goodput is None:
        assert not requests.ok[found.window.first : found.window.last + 1].any(), (
            "only if nothing was answered"
        )
        assert level.achieved is None
        return
    if level.achieved is None:
        assert found.window.is_burst
        assert level.goodput.rate is None
        return
    assert level.offered is not None
    assert level.goodput.rate is not None
    tiny = 1e-9 * level.offered
    assert level.goodput.rate.value <= level.achieved.value + tiny
    assert level.achieved.value <= level.offered + tiny
    share = level.goodput.rate.value / level.achieved.value if level.achieved.value else 1.0
    answered = level.answered_requests / level.counted
    assert share * answered == pytest.approx(level.goodput.share), "of the same requests"
    assert level.output_tokens is None or level.output_tokens.value == pytest.approx(
        10 * level.achieved.value
    )


@given(st.floats(0.05, 8), st.floats(5, 60), st.sampled_from([0.0, 0.1]), st.booleans(), st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_a_server_that_keeps_up_answers_what_is_offered_however_long_it_takes(
    latency: float, per_second: float, failing: float, poisson: bool, seed: int
) -> None:
    """An issue had 13.7 answers/s, unmarked, of a server that always took 4 s at 20/s, and a goodput of 20."""
    server = Server(None, latency, 0.0, failing)
    requests = asked(server, per_second, 3.5 * latency + 200 / per_second, poisson=poisson, seed=seed)
    found, level = figures(requests, per_second)
    assert found.is_steady
    assert level.achieved is not None
    assert level.offered is not None
    assert level.achieved.value == pytest.approx(level.offered * level.answered_requests / level.counted)
    assert level.offered == pytest.approx(per_second, rel=0.3 if poisson else 1e-6)
    assert level.begin >= min(latency, float(requests.intended[-1]) / 2) * 0.99, "not before its first answer"


@given(st.integers(1, 8), st.floats(0.05, 1), st.floats(1.3, 4), st.booleans(), st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_a_server_that_does_not_keep_up_answers_what_it_can(
    slots: int, seconds: float, too_much: float, poisson: bool, seed: int
) -> None:
    capacity = slots / seconds
    requests = asked(Server(slots, seconds), capacity * too_much, 400 / capacity, poisson=poisson, seed=seed)
    found, level = figures(requests, capacity * too_much)
    assert level.achieved is not None
    assert level.achieved.value == pytest.approx(capacity, rel=0.15 if poisson else 0.02)
    assert poisson or not found.is_steady


@given(st.integers(1, 8), st.floats(0.05, 1), st.floats(3, 12), st.integers(30, 90))
@settings(max_examples=60, deadline=None)
def test_a_queue_that_outgrows_its_level_hides_nothing_of_what_the_server_can(
    slots: int, seconds: float, too_much: float, served: int
) -> None:
    """Answers take longer than the level lasts, as they wait: that is no burst, and more time would not help."""
    capacity = slots / seconds
    requests = asked(
        Server(slots, seconds),
        capacity * too_much,
        max(served / capacity, 6 * seconds),
        poisson=False,
        seed=0,
    )
    _, level = figures(requests, capacity * too_much)
    assert level.achieved is not None
    assert level.achieved.value == pytest.approx(capacity, rel=0.1)


@given(st.floats(0.5, 8), st.floats(1.0, 1.9), st.integers(5, 40))
@settings(max_examples=60, deadline=None)
def test_a_level_too_short_for_its_latency_has_no_rate_and_says_how_long_it_must_be(
    latency: float, times: float, per_second: int
) -> None:
    requests = asked(Server(None, latency), per_second, times * latency, poisson=False, seed=1)
    _, level = figures(requests, per_second)
    assert level.achieved is None
    assert level.needs_seconds is not None
    assert level.needs_seconds == pytest.approx(3 * latency)
    longer = asked(
        Server(None, latency), per_second, level.needs_seconds * 1.05 + 3 / per_second, poisson=False, seed=1
    )
    _, level = figures(longer, per_second)
    assert level.achieved is not None
    assert level.needs_seconds is None


def test_intervals_of_rates_hold_how_irregularly_requests_came() -> None:
    """Of 200 levels with Poisson arrivals at 10/s, nearly all intervals hold 10: the next level has other arrivals."""
    held = 0
    for seed in range(200):
        _, level = figures(asked(Server(None, 0.2, 0.3), 10, 60, poisson=True, seed=seed), 10)
        assert level.achieved is not None
        assert level.achieved.low is not None
        assert level.achieved.high is not None
        held += level.achieved.low <= 10 <= level.achieved.high
    assert held >= 180


@given(st.lists(st.floats(0, 100), min_size=5, max_size=60))
def test_what_grows_by_a_line_grows_by_its_height(noise: list[float]) -> None:
    size = len(noise)
    found = estimate_growth(np.linspace(0, 1000, size))
    assert found is not None
    assert found.amount == pytest.approx(1000)
    assert found.p_value < MAX_DRIFT_P_VALUE
    assert estimate_growth(noise[:4]) is None


def test_a_slow_server_that_keeps_up_is_measured_rightly(program: Program) -> None:
    with simulated_endpoint("--ttft", "2s", "--policy", "words", "--words", "1") as url:
        load = ("--rate", "20", "--arrivals", "constant", "--slo", "latency=10", "--synthetic-input", "5")
        (level,) = measure(program, url, *load, "--duration", "7", "--no-metrics").levels
        shown = program.run(
            *("load", "--model", "m", "--base-url", url, *load, "--duration", "3", "--no-metrics")
        )
    assert rate(level) == pytest.approx(20, rel=0.05)
    assert level.goodput is not None
    assert level.goodput.rate is not None
    assert level.goodput.rate.value == pytest.approx(rate(level))
    assert level.begin > 1.9
    said = " ".join(shown.stdout.split())
    assert (
        "No steady rate at 20/s: 60 requests are too few for a steady state, as an answer takes 2.0s" in said
    )
    assert "requests have to be sent for 7 s at least" in said
