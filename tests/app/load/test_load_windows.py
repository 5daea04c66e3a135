"""Which requests of a level count, and when a rate is claimed."""

from __future__ import annotations

import heapq
from pathlib import Path

import numpy as np
import pytest
from tests.app.load.test_load_figures import Asked, journal, table_of

from benchwright.analysis.load.figures import WindowFigures
from benchwright.analysis.load.measurement_windows import find_window, whole_level_figures
from benchwright.analysis.load.records import LevelPlan, LoadLevel
from benchwright.analysis.load.requests import LevelRequests, read_requests
from benchwright.stats.windows import WindowTrim


def closed(concurrency: int, requests: int, slots: int, service: int) -> list[Asked]:
    """What a server of so many slots, each request taking so many ms, makes of a closed loop."""
    free, ready, asked = [0] * slots, [0] * concurrency, []
    for _ in range(requests):
        due = heapq.heappop(ready)
        end = max(due, heapq.heappop(free)) + service
        heapq.heappush(free, end)
        heapq.heappush(ready, end)
        asked.append(Asked(due, total=end - due))
    return asked


def read(directory: Path, asked: list[Asked]) -> LevelRequests:
    return read_requests(table_of(journal(directory, asked)))


def test_two_rounds_are_a_burst_for_which_no_steady_rate_is_claimed(tmp_path: Path) -> None:
    """24 in flight, 48 requests, six slots of 0.2 s: 30/s, which no window of it shows."""
    requests = read(tmp_path, closed(24, 48, 6, 200))
    found = find_window(requests, LevelPlan("load-1", LoadLevel(concurrency=24)))
    assert found is not None
    assert not found.is_steady
    assert WindowFigures(requests, found.window, open_loop=False).achieved_rate is None
    whole = whole_level_figures(requests)
    assert whole is not None
    assert whole.achieved == pytest.approx(30)


@pytest.mark.parametrize("rounds", [4, 10, 40])
def test_from_a_few_rounds_on_the_rate_is_that_of_the_server(tmp_path: Path, rounds: int) -> None:
    requests = read(tmp_path, closed(24, 24 * rounds, 6, 200))
    found = find_window(requests, LevelPlan("load-1", LoadLevel(concurrency=24)))
    assert found is not None
    achieved = WindowFigures(requests, found.window, open_loop=False).achieved_rate
    assert found.is_steady
    assert achieved is not None
    assert achieved.value == pytest.approx(30)


def test_no_more_requests_than_are_in_flight_are_a_burst_whose_times_are_told(tmp_path: Path) -> None:
    requests = read(tmp_path, closed(8, 8, 2, 100))
    found = find_window(requests, LevelPlan("load-1", LoadLevel(concurrency=8)))
    assert found is not None
    assert not found.is_steady
    figures = WindowFigures(requests, found.window, open_loop=False)
    assert (figures.counted_requests, figures.achieved_rate) == (8, None)
    assert figures.column_distribution("latency") is not None


def test_a_slow_start_is_found_and_left_out(tmp_path: Path) -> None:
    slow = [Asked(1000 * number, total=900) for number in range(20)]
    quick = [Asked(20_000 + 100 * number) for number in range(200)]
    found = find_window(read(tmp_path, slow + quick), LevelPlan("load-1", LoadLevel(concurrency=1)))
    assert found is not None
    assert (found.rule, found.is_steady) == ("found", True)
    assert 20 <= found.window.first <= 25


def test_cuts_that_are_given_are_kept_to(tmp_path: Path) -> None:
    slow = [Asked(1000 * number, total=900) for number in range(20)]
    quick = [Asked(20_000 + 100 * number) for number in range(200)]
    found = find_window(
        read(tmp_path, slow + quick),
        LevelPlan("load-1", LoadLevel(concurrency=1), warmup=WindowTrim(requests=3)),
    )
    assert found is not None
    assert (found.rule, found.window.first) == ("given", 3)


def test_the_seconds_that_are_given_count(tmp_path: Path) -> None:
    requests = read(tmp_path, [Asked(100 * number) for number in range(100)])
    found = find_window(requests, LevelPlan("load-1", LoadLevel(concurrency=1), window=(2.0, 4.0)))
    assert found is not None
    assert (found.rule, found.window.begin, found.window.end) == ("given", 2.0, 4.0)


def test_a_queue_that_grows_is_no_steady_state(tmp_path: Path) -> None:
    """20 requests per second to a server that does 10: each waits longer than the one before."""
    asked = [Asked(50 * number, total=100 + 50 * number) for number in range(200)]
    requests = read(tmp_path, asked)
    found = find_window(requests, LevelPlan("load-1", LoadLevel(rate=20, arrivals="constant")))
    assert found is not None
    assert found.drift is not None
    assert found.drift > 0.5
    achieved = WindowFigures(requests, found.window, open_loop=True).achieved_rate
    assert achieved is not None
    assert achieved.value == pytest.approx(10, rel=0.05)


def test_intervals_of_rates_hold_them(tmp_path: Path) -> None:
    generator = np.random.default_rng(4)
    asked = [Asked(int(due), total=int(generator.integers(50, 150))) for due in np.arange(0, 30_000, 100)]
    found = find_window(requests := read(tmp_path, asked), LevelPlan("load-1", LoadLevel(concurrency=1)))
    assert found is not None
    achieved = WindowFigures(requests, found.window, open_loop=True).achieved_rate
    assert achieved is not None
    assert achieved.low is not None
    assert achieved.high is not None
    assert achieved.low < 10 < achieved.high
    assert achieved.high - achieved.low < 2


def test_a_closed_loop_that_is_refused_at_once_has_no_window_of_refusals(tmp_path: Path) -> None:
    """Eight of 16 are answered after 200 ms; each of the others is refused at once, and the next one, too."""
    answered = [Asked(0, total=200) for _ in range(8)]
    refused = [Asked(number // 8, total=1, failed=True) for number in range(142)]
    requests = read(tmp_path, [*answered, *refused])
    found = find_window(requests, LevelPlan("load-1", LoadLevel(concurrency=16)))
    assert found is not None
    figures = WindowFigures(requests, found.window, open_loop=False)
    assert (figures.counted_requests, figures.failed_requests) == (150, 142)
    assert figures.achieved_rate is None, "none is steady"


def test_latencies_that_settle_are_those_of_answers(tmp_path: Path) -> None:
    asked = [
        Asked(10 * at, total=1 if at % 2 else 400 if at < 120 else 100, failed=bool(at % 2))
        for at in range(400)
    ]
    found = find_window(read(tmp_path, asked), LevelPlan("load-1", LoadLevel(rate=100.0)))
    assert found is not None
    assert found.rule == "found"
    assert found.window.first == pytest.approx(120, abs=10)
    assert found.is_steady


def test_what_hangs_all_the_time_serves_nothing_and_is_told(tmp_path: Path) -> None:
    """Four of eight places hang for a minute; the others take 100 ms each: 40/s."""
    hanging = [Asked(0, total=60_000) for _ in range(4)]
    served = [Asked(100 * (at // 4), total=100) for at in range(400)]
    requests = read(tmp_path, [*hanging, *served])
    found = find_window(requests, LevelPlan("load-1", LoadLevel(concurrency=8)))
    assert found is not None
    figures = WindowFigures(requests, found.window, open_loop=False)
    assert figures.achieved_rate is not None
    assert figures.achieved_rate.value == pytest.approx(40, rel=0.01)
    assert figures.outlasting_requests == 4
