from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.power import (
    detectable_proportion,
    difference_sd,
    minimum_detectable_effect,
    pairs_for_effect,
    samples_for_proportions,
)

rates = st.floats(0.01, 0.99)


def test_a_hundred_pairs_of_half_a_point_spread_show_14_points() -> None:
    assert minimum_detectable_effect(0.5, 100) == pytest.approx((1.959964 + 0.841621) * 0.05, abs=1e-7)


@given(st.floats(0.01, 5), st.integers(1, 10**6), st.floats(0.5, 20))
def test_the_pairs_for_an_effect_detect_it(sd: float, n: int, design_effect: float) -> None:
    effect = minimum_detectable_effect(sd, n, design_effect=design_effect)
    needed = pairs_for_effect(effect, sd, design_effect=design_effect)
    assert n <= needed <= n + 1


def test_groups_cost_samples_in_proportion_to_their_design_effect() -> None:
    alone, grouped = pairs_for_effect(0.02, 0.4), pairs_for_effect(0.02, 0.4, design_effect=3)
    assert grouped == pytest.approx(3 * alone, abs=3)


def test_the_direction_of_an_effect_does_not_matter() -> None:
    assert pairs_for_effect(-0.05, 0.4) == pairs_for_effect(0.05, 0.4)


@pytest.mark.parametrize(
    ("p_a", "p_b", "power", "n"), [(0.5, 0.75, 0.9, 77), (0.5, 0.6, 0.8, 388), (0.6, 0.5, 0.8, 388)]
)
def test_textbook_numbers_for_two_proportions(p_a: float, p_b: float, power: float, n: int) -> None:
    assert samples_for_proportions(p_a, p_b, power=power) == n


@given(rates, rates)
def test_failures_need_as_many_samples_as_successes(p_a: float, p_b: float) -> None:
    if abs(p_a - p_b) > 1e-3:
        mirrored = samples_for_proportions(1 - p_a, 1 - p_b)
        assert mirrored == pytest.approx(samples_for_proportions(p_a, p_b), abs=1)


@given(rates, st.integers(20, 10**5))
def test_the_detectable_rate_is_the_nearest_that_n_samples_tell_apart(p: float, n: int) -> None:
    rate = detectable_proportion(p, n)
    if rate is None:
        assert samples_for_proportions(p, 1.0) > n
    else:
        assert samples_for_proportions(p, rate) <= n
        assert samples_for_proportions(p, p + 0.99 * (rate - p)) >= n


def test_too_few_samples_detect_no_rate() -> None:
    assert detectable_proportion(0.9, 5) is None
    assert detectable_proportion(1.0, 10**6) is None


def test_correlated_sides_have_a_smaller_difference() -> None:
    assert difference_sd(0.4, 0.4, 0.0) == pytest.approx(0.4 * math.sqrt(2))
    assert difference_sd(0.4, 0.4, 1.0) == 0
    assert difference_sd(0.3, 0.4, 0.5) == pytest.approx(math.sqrt(0.13))


@pytest.mark.parametrize(
    "call",
    [
        lambda: minimum_detectable_effect(0.5, 0),
        lambda: minimum_detectable_effect(-0.5, 10),
        lambda: minimum_detectable_effect(math.nan, 10),
        lambda: minimum_detectable_effect(0.5, 10, design_effect=0),
        lambda: minimum_detectable_effect(0.5, 10, power=1.0),
        lambda: pairs_for_effect(0, 0.5),
        lambda: difference_sd(0.5, 0.5, 1.5),
        lambda: samples_for_proportions(0.5, 0.5),
        lambda: samples_for_proportions(0.5, 1.5),
        lambda: detectable_proportion(0.5, 0),
    ],
)
def test_impossible_designs_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        call()
