"""Whether a score rises or falls with a setting, over the same samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.paired_tests import paired_difference
from benchwright.stats.trend import paired_trend

tables = st.integers(2, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=2, max_size=20
    )
)


def test_slopes_worked_by_hand() -> None:
    # least-squares slopes over 0, 1, 2 are half of last less first: 0.5, 0 and -0.25
    found = paired_trend([[0, 0.3, 1], [0.5, 0.5, 0.5], [0.5, 0, 0]], [0, 1, 2])
    slopes = [0.5, 0.0, -0.25]
    assert found.slope == pytest.approx(np.mean(slopes))
    assert found.n == 3
    assert found.interval is not None
    half = 4.302653 * np.std(slopes, ddof=1) / math.sqrt(3)
    assert found.interval.high - found.slope == pytest.approx(half, rel=1e-6)
    assert (found.method, found.test) == ("t", "t")


def test_of_two_points_it_is_the_paired_difference() -> None:
    low, high = [1, 1, 1, 0, 1, 1, 1, 0], [0, 1, 0, 0, 1, 0, 1, 1]
    found = paired_trend(list(zip(low, high, strict=True)), [2, 5])
    expected = paired_difference(high, low)
    assert found.slope == pytest.approx(expected.difference / 3)
    assert (found.p_value, found.test) == (expected.p_value, "mcnemar-mid-p")


@given(tables)
def test_samples_that_differ_in_difficulty_only_show_no_trend(table: list[list[int]]) -> None:
    flat = [[row[0]] * len(row) for row in table]
    found = paired_trend(flat, range(len(table[0])))
    assert found.slope == pytest.approx(0, abs=1e-12)
    assert found.p_value == 1


@given(tables)
def test_the_slope_is_the_mean_of_least_squares(table: list[list[int]]) -> None:
    setting = np.log2(np.arange(1, len(table[0]) + 1))
    expected = np.mean([np.polyfit(setting, row, 1)[0] for row in table])
    assert paired_trend(table, setting).slope == pytest.approx(expected, abs=1e-9)


@given(tables)
def test_turning_the_setting_round_turns_the_slope_round(table: list[list[int]]) -> None:
    setting = list(range(len(table[0])))
    one = paired_trend(table, setting)
    other = paired_trend([row[::-1] for row in table], setting)
    assert other.slope == pytest.approx(-one.slope, abs=1e-12)
    assert other.p_value == pytest.approx(one.p_value, abs=1e-9)


def test_one_point_is_no_trend() -> None:
    for setting in ([1], [2, 2]):
        with pytest.raises(ValueError, match="two different points"):
            paired_trend([[1.0] * len(setting)], setting)


def test_it_gives_no_more_false_alarms_than_its_level() -> None:
    generator = np.random.default_rng(5)
    alarms = []
    for _ in range(1000):
        rates = generator.beta(0.8, 0.8, 60)[:, None]
        table = (generator.random((60, 3)) < rates).astype(float)
        alarms.append((paired_trend(table, np.log2([1, 8, 64])).p_value or 0) < 0.05)
    assert np.mean(alarms) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 1000)
