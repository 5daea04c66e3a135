"""Means over time of what was read at single moments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.integrals import growth_between, mean_between

TIMES = st.lists(st.floats(-100, 100), min_size=2, max_size=30, unique=True).map(sorted)


@given(TIMES, st.floats(-1e3, 1e3))
def test_what_stays_the_same_has_itself_as_its_mean(times: list[float], value: float) -> None:
    mean = mean_between(times, [value] * len(times), times[0], times[-1])
    assert mean == pytest.approx(value)


def test_readings_count_by_the_time_between_them() -> None:
    assert mean_between([0, 1, 9], [0, 8, 8], 0, 9) == pytest.approx((4 + 64) / 9)


def test_the_ends_lie_on_the_lines_between_readings() -> None:
    assert mean_between([0, 10], [0, 100], 4, 6) == pytest.approx(50)
    assert growth_between([0, 10], [7, 107], 4, 6) == pytest.approx(10)


def test_a_counter_that_grows_as_a_power_says_gives_that_power() -> None:
    times = np.linspace(0, 30, 31)
    power = 300 + 40 * np.sin(times)
    energy = np.concatenate(([0.0], np.cumsum((power[1:] + power[:-1]) / 2)))
    assert growth_between(times, energy, 3, 27) == pytest.approx(mean_between(times, power, 3, 27))


@pytest.mark.parametrize(("begin", "end"), [(-1, 5), (0, 11), (5, 5), (6, 5)])
def test_nothing_is_said_of_time_without_readings(begin: float, end: float) -> None:
    with pytest.raises(ValueError, match="must reach from the beginning to the end"):
        mean_between([0, 10], [1, 1], begin, end)
