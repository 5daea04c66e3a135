"""A sweep against servers whose every answer is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchwright.analysis.load.figure_records import FigureEstimate, Goodput
from benchwright.analysis.load.records import LevelResult, LoadLevel, Saturation, SweepPlan
from benchwright.analysis.load.sweep import LoadSweep

FIRST = LoadLevel(concurrency=1)


def result(level: LoadLevel, achieved: float, **more: Any) -> LevelResult:
    return LevelResult(
        level,
        run="r",
        state=more.pop("state", "finished"),
        requests=9,
        counted=9,
        achieved=FigureEstimate(achieved),
        **more,
    )


def swept(
    sweep: LoadSweep, serve: Callable[[float], LevelResult], most: int = 30
) -> tuple[list[float], Saturation | None]:
    """The levels that a sweep asks for, in turn, and what it concludes."""
    asked: list[float] = []
    while (level := sweep.next_level()) is not None and len(asked) < most:
        value = float(level.concurrency or level.rate or 0)
        asked.append(value)
        sweep.add_result(serve(value))
    return asked, sweep.conclusion(interrupted=False)


def closed(slots: int, **more: Any) -> Callable[[float], LevelResult]:
    """A server of so many slots and a second each."""
    return lambda level: result(LoadLevel(concurrency=int(level)), min(level, slots), **more)


def open_loop(capacity: float) -> Callable[[float], LevelResult]:
    return lambda rate: result(LoadLevel(rate=rate, arrivals="poisson"), min(rate, capacity), offered=rate)


def test_levels_double_until_more_load_buys_nothing_then_close_in() -> None:
    asked, found = swept(LoadSweep(FIRST, SweepPlan(bisect=3), objectives=False), closed(6))
    assert asked == [1, 2, 4, 8, 16, 6, 5]
    assert found is not None
    assert found.found
    assert (found.level, found.served) == (LoadLevel(concurrency=6), 6)
    assert (found.beyond, found.beyond_served) == (LoadLevel(concurrency=8), 6)


def test_without_bisecting_the_saturating_level_is_one_of_those_doubled() -> None:
    asked, found = swept(LoadSweep(FIRST, SweepPlan(bisect=0), objectives=False), closed(6))
    assert asked == [1, 2, 4, 8, 16]
    assert found is not None
    assert found.level == LoadLevel(concurrency=8)


def test_with_objectives_what_counts_is_what_met_them() -> None:
    """Beyond 8 in flight everything is too late, though as many answers come."""

    def serve(level: float) -> LevelResult:
        met = level if level <= 8 else 0.5
        good = Goodput(met=1, counted=2, share=0.5, low=0, high=1, rate=FigureEstimate(met))
        return result(LoadLevel(concurrency=int(level)), min(level, 32), goodput=good)

    asked, found = swept(LoadSweep(FIRST, SweepPlan(), objectives=True), serve)
    assert asked == [1, 2, 4, 8, 16, 12, 10]
    assert found is not None
    assert (found.level, found.by) == (LoadLevel(concurrency=8), "requests/s within the objectives")
    assert found.beyond_served == 0.5


def test_in_an_open_loop_the_highest_rate_that_is_kept_up_with_is_told() -> None:
    first = LoadLevel(rate=1, arrivals="poisson")
    asked, found = swept(LoadSweep(first, SweepPlan(bisect=2), objectives=False), open_loop(10))
    assert asked == [1, 2, 4, 8, 16, 11.3, 9.51]
    assert found is not None
    assert found.level is not None
    assert found.level.rate == 9.51
    assert found.beyond is not None
    assert found.beyond.rate == 11.3


def test_where_even_the_lowest_rate_is_too_much_no_level_is_named() -> None:
    first = LoadLevel(rate=50, arrivals="constant")
    asked, found = swept(LoadSweep(first, SweepPlan(), objectives=False), open_loop(10))
    assert asked == [50]
    assert found is not None
    assert found.level is None
    assert found.beyond_served == 10


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (
            {"client_limited": True, "client_bound": "our process used 99 % of a core"},
            "the client was the limit",
        ),
        ({"state": "stopped", "stop_reason": "no such model"}, "was stopped: no such model"),
    ],
)
def test_a_level_that_says_nothing_of_the_server_ends_the_sweep_without_a_verdict(
    more: dict[str, Any], reason: str
) -> None:
    asked, found = swept(LoadSweep(FIRST, SweepPlan(), objectives=False), closed(6, **more))
    assert asked == [1]
    assert found is not None
    assert not found.found
    assert reason in (found.reason or "")


def test_a_server_that_answers_nothing_is_not_saturated() -> None:
    asked, found = swept(LoadSweep(FIRST, SweepPlan(), objectives=False), closed(0))
    assert asked == [1]
    assert found is not None
    assert not found.found


def test_a_sweep_ends_at_the_highest_level_that_is_allowed_and_says_so() -> None:
    asked, found = swept(LoadSweep(FIRST, SweepPlan(most=8), objectives=False), closed(100))
    assert asked == [1, 2, 4, 8]
    assert found is not None
    assert not found.found
    assert "8" in (found.reason or "")


def test_objectives_about_times_that_are_not_valid_make_the_verdict_doubtful() -> None:
    def serve(level: float) -> LevelResult:
        good = Goodput(met=1, counted=1, share=1, low=0, high=1, rate=FigureEstimate(min(level, 2)))
        return result(
            LoadLevel(concurrency=int(level)), level, goodput=good, client_bound="our loop was late"
        )

    _, found = swept(LoadSweep(FIRST, SweepPlan(bisect=0), objectives=True), serve)
    assert found is not None
    assert found.found
    assert found.doubtful


def test_an_interrupted_sweep_has_no_verdict() -> None:
    sweep = LoadSweep(FIRST, SweepPlan(), objectives=False)
    assert sweep.conclusion(interrupted=True) is None
    sweep.add_result(closed(6)(1))
    found = sweep.conclusion(interrupted=True)
    assert found is not None
    assert "interrupted" in (found.reason or "")
