from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.windows import (
    Window,
    WindowTrim,
    cut_window,
    mean_concurrency,
    mean_concurrency_between,
    peak_concurrency,
)

NOTHING = WindowTrim()
moments = st.lists(st.floats(0, 1000), min_size=1, max_size=60).map(sorted)
lengths = st.floats(0.01, 10)


def found(
    due: list[float], length: float = 1.0, warmup: WindowTrim = NOTHING, cooldown: WindowTrim = NOTHING
) -> Window | None:
    return cut_window(due, due, [moment + length for moment in due], warmup, cooldown)


@given(moments, st.integers(0, 70), st.integers(0, 70))
def test_cuts_of_requests_leave_out_just_so_many(due: list[float], early: int, late: int) -> None:
    left = found(due, warmup=WindowTrim(requests=early), cooldown=WindowTrim(requests=late))
    if early + late >= len(due):
        assert left is None
    else:
        assert left is not None
        assert (left.first, left.last) == (early, len(due) - late - 1)


@given(moments, st.floats(0.1, 500), st.floats(0.1, 500))
def test_cuts_of_seconds_leave_out_what_was_due_in_them(due: list[float], early: float, late: float) -> None:
    left = found(due, warmup=WindowTrim(seconds=early), cooldown=WindowTrim(seconds=late))
    kept = [place for place, one in enumerate(due) if due[0] + early <= one <= due[-1] - late]
    assert (left is None) == (not kept)
    if left is not None:
        assert (left.first, left.last) == (kept[0], kept[-1])


def test_the_window_ends_with_the_last_intended_start() -> None:
    left = found([0, 1, 2, 3], length=1.5)
    assert left is not None
    assert (left.begin, left.end, left.is_burst) == (0, 3, False)


def test_a_burst_is_no_steady_state_and_its_window_goes_to_the_last_answer() -> None:
    left = found([0, 0.1, 0.2], length=5)
    assert left is not None
    assert (left.begin, left.end, left.is_burst) == (0, 5.2, True)


def test_requests_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="in the order"):
        found([1, 0])


@given(st.integers(1, 8), lengths, st.integers(4, 30), st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_the_rate_of_a_closed_loop_is_the_same_in_every_window(
    in_flight: int, length: float, rounds: int, low: float, high: float, in_step: bool
) -> None:
    """k requests in flight that take d seconds each are answered at k / d, wherever the window is cut."""
    offsets = [0.0 if in_step else length * one / in_flight for one in range(in_flight)]
    starts = np.array([offset + number * length for offset in offsets for number in range(rounds)])
    begin = length + low * length
    end = length * (rounds - 1) - high * length / 2
    taken = length  # of each request, so that Little's law gives the rate
    rate = mean_concurrency(starts, starts + length, begin, end) / taken
    assert rate == pytest.approx(in_flight / length)


def test_nothing_is_under_way_in_no_time() -> None:
    assert mean_concurrency([0.0], [1.0], 0.5, 0.5) == 0


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=40))
def test_the_most_at_once_is_found_by_looking_at_every_moment(intervals: list[tuple[int, int]]) -> None:
    starts = [start for start, _ in intervals]
    ends = [start + length for start, length in intervals]
    looked = [sum(begin <= at < end for begin, end in zip(starts, ends, strict=True)) for at in range(71)]
    assert peak_concurrency(starts, ends) == max(looked)


@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(0, 20)), max_size=40),
    st.lists(st.floats(-5, 80), min_size=2, max_size=12, unique=True).map(sorted),
)
def test_bins_have_what_each_has_by_itself(intervals: list[tuple[float, float]], edges: list[float]) -> None:
    edges = [edge + place for place, edge in enumerate(edges)]
    starts = [start for start, _ in intervals]
    ends = [start + length for start, length in intervals]
    alone = [mean_concurrency(starts, ends, *pair) for pair in pairwise(edges)]
    assert mean_concurrency_between(starts, ends, edges) == pytest.approx(alone, abs=1e-9)


@pytest.mark.parametrize("edges", [[0.0, 0.0], [2.0, 1.0]])
def test_edges_that_do_not_rise_are_refused(edges: list[float]) -> None:
    with pytest.raises(ValueError, match="edges rise"):
        mean_concurrency_between([0.0], [1.0], edges)
