from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from benchwright.stats.percentiles import cumulative_points, percentile, percentile_interval

durations = st.lists(st.floats(0, 1e6), min_size=1, max_size=200)
fractions = st.floats(0.01, 0.99)


@given(durations, st.floats(0, 1))
def test_percentiles_are_those_of_numpy(values: list[float], q: float) -> None:
    assert percentile(values, q) == np.quantile(values, q)


@given(st.integers(1, 400), fractions, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_ends_are_the_closest_order_statistics_that_hold(n: int, q: float, confidence: float) -> None:
    """With the values 1..n an end is its own rank; the tails are binomial probabilities."""
    low, high = percentile_interval(range(1, n + 1), q, confidence)
    tail = (1 - confidence) / 2
    below = scipy_stats.binom(n, q)
    lower = 0 if low == -math.inf else int(low)
    upper = n + 1 if high == math.inf else int(high)
    slack = 1e-9
    assert below.cdf(lower - 1) <= tail + slack
    assert below.cdf(lower) >= tail - slack
    assert below.sf(upper - 1) <= tail + slack
    assert below.sf(upper - 2) >= tail - slack


def test_the_median_of_ten_lies_between_the_second_and_the_ninth() -> None:
    assert percentile_interval(range(1, 11), 0.5) == (2, 9)


@given(st.lists(st.floats(0, 1e6), min_size=3, max_size=200), st.sampled_from([0.05, 0.5, 0.9, 0.95, 0.99]))
def test_the_interval_of_three_or_more_values_holds_their_percentile(values: list[float], q: float) -> None:
    low, high = percentile_interval(values, q)
    assert low <= percentile(values, q) <= high


@given(durations, fractions)
def test_order_does_not_matter(values: list[float], q: float) -> None:
    assert percentile_interval(values[::-1], q) == percentile_interval(values, q)


@pytest.mark.parametrize(("q", "n"), [(0.5, 5), (0.9, 29), (0.95, 59), (0.99, 299), (0.999, 2995)])
def test_fewest_values_for_a_finite_upper_bound(q: float, n: int) -> None:
    """With 5 % beyond the upper end: 1 - q^n reaches 0.95."""
    assert percentile_interval(range(n), q, 0.9).high == n - 1
    assert percentile_interval(range(n - 1), q, 0.9).high == math.inf


def test_a_smaller_tail_takes_more_values() -> None:
    assert percentile_interval(range(368), 0.99).high == 367
    assert percentile_interval(range(367), 0.99).high == math.inf


def test_a_single_value_bounds_nothing() -> None:
    assert percentile_interval([3.0], 0.5) == (-math.inf, math.inf)
    assert percentile([3.0], 0.99) == 3.0


@pytest.mark.parametrize("q", [0.0, 1.0, 99])
def test_q_is_a_fraction(q: float) -> None:
    with pytest.raises(ValueError, match="q lies above 0 and below 1"):
        percentile_interval([1.0, 2.0], q)


@pytest.mark.parametrize(("values", "message"), [([], "no values"), ([1.0, math.nan], "finite")])
def test_what_has_no_percentiles_is_refused(values: list[float], message: str) -> None:
    for call in (percentile, percentile_interval):
        with pytest.raises(ValueError, match=message):
            call(values, 0.5)


@given(durations, st.integers(2, 50))
def test_cumulative_shares_rise_to_one_and_are_true_of_the_values(values: list[float], most: int) -> None:
    points = cumulative_points(values, most)
    assert len(points) <= most + 1
    assert points == sorted(points)
    assert points[-1] == (max(values), 1.0)
    for value, share in points:
        assert np.mean(np.array(values) <= value) >= share - 1e-9


def test_few_values_are_all_there() -> None:
    assert cumulative_points([3.0, 1.0], 10) == [(1.0, 0.5), (3.0, 1.0)]
