from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.histogram import bucket_bounds, bucket_of, cumulative_points, quantile

durations = st.integers(min_value=0, max_value=2**62)


@given(durations)
def test_a_duration_lies_within_the_bounds_of_its_bucket(ns: int) -> None:
    low, high = bucket_bounds(bucket_of(ns))
    assert low <= ns < high


@given(durations)
def test_a_bucket_is_at_most_an_eighth_wide(ns: int) -> None:
    low, high = bucket_bounds(bucket_of(ns))
    assert high - low == 1 or 8 * (high - low) <= low


def test_buckets_follow_each_other_without_gap() -> None:
    ends = [bucket_bounds(number) for number in range(470)]
    assert all(this[1] == following[0] for this, following in pairwise(ends))
    assert ends[0][0] == 0


def test_durations_below_16_ns_are_exact() -> None:
    assert [bucket_of(ns) for ns in range(16)] == list(range(16))


@given(durations, durations)
def test_a_longer_duration_never_has_a_lower_bucket(one: int, other: int) -> None:
    assert (bucket_of(one) <= bucket_of(other)) or one > other


@given(st.lists(durations, min_size=1, max_size=60), st.floats(0, 1))
def test_a_quantile_is_within_an_eighth_of_the_exact_one(values: list[int], q: float) -> None:
    histogram = Counter(map(bucket_of, values))
    exact = float(np.quantile(np.array(values, dtype=np.float64), q))
    assert quantile(histogram, q) == pytest.approx(exact, rel=0.126, abs=1e-9)


def test_quantiles_of_short_durations_are_those_of_numpy() -> None:
    values = [3, 3, 5, 9, 14]
    assert quantile(Counter(map(bucket_of, values)), 0.9) == pytest.approx(np.quantile(values, 0.9))


def test_a_single_duration_is_every_quantile() -> None:
    histogram = {bucket_of(1_000_000): 1}
    low, high = bucket_bounds(bucket_of(1_000_000))
    assert quantile(histogram, 0) == quantile(histogram, 1) == (low + high - 1) / 2


def test_empty_buckets_do_not_matter() -> None:
    assert quantile({5: 0, 7: 1, 9: 0}, 0.5) == 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bucket_of(-1), "negative"),
        (lambda: bucket_bounds(-1), "no bucket"),
        (lambda: quantile({}, 0.5), "empty"),
        (lambda: quantile({3: 0}, 0.5), "empty"),
        (lambda: cumulative_points({}), "empty"),
        (lambda: quantile({3: 1}, 1.5), "between 0 and 1"),
    ],
)
def test_what_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@given(st.lists(durations, min_size=1, max_size=60))
def test_cumulative_shares_rise_from_nothing_to_all_and_are_true_at_the_borders_of_buckets(
    values: list[int],
) -> None:
    histogram = Counter(map(bucket_of, values))
    points = cumulative_points(histogram)
    assert points == sorted(points)
    assert (points[0][1], points[-1][1]) == (0, 1)
    assert len(points) <= 2 * len(histogram)
    for ns, share in points:
        assert share == sum(value < ns for value in values) / len(values)


def test_importing_it_does_not_load_numpy() -> None:
    code = "import sys; from benchwright.stats.histogram import bucket_of; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
