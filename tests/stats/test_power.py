from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from tests.known import known

from benchwright.stats.power import (
    detectable_proportion,
    minimum_detectable_effect,
)

rates = st.floats(0.01, 0.99)


def samples_needed(p_a: float, p_b: float) -> float:
    """How many samples a side tell two rates apart at 5 %, with a power of 80 %."""
    mean = (p_a + p_b) / 2
    chance, difference = norm.ppf([0.975, 0.8])
    spread = chance * math.sqrt(2 * mean * (1 - mean))
    spread += difference * math.sqrt(p_a * (1 - p_a) + p_b * (1 - p_b))
    return float((spread / (p_a - p_b)) ** 2)


def test_a_hundred_pairs_of_half_a_point_spread_show_14_points() -> None:
    assert minimum_detectable_effect(0.5, 100) == pytest.approx((1.959964 + 0.841621) * 0.05, abs=1e-7)


def test_groups_cost_samples_in_proportion_to_their_design_effect() -> None:
    grouped = minimum_detectable_effect(0.4, 300, design_effect=3)
    assert grouped == pytest.approx(minimum_detectable_effect(0.4, 100))


@pytest.mark.parametrize(
    ("p_a", "p_b", "power", "n"), [(0.5, 0.75, 0.9, 77), (0.5, 0.6, 0.8, 388), (0.4, 0.5, 0.8, 388)]
)
def test_textbook_numbers_for_two_proportions(p_a: float, p_b: float, power: float, n: int) -> None:
    assert known(detectable_proportion(p_a, n, power=power)) <= p_b
    assert known(detectable_proportion(p_a, n - 1, power=power)) > p_b


@given(rates, st.integers(20, 10**5))
def test_the_detectable_rate_is_the_nearest_that_n_samples_tell_apart(p: float, n: int) -> None:
    rate = detectable_proportion(p, n)
    if rate is None:
        assert samples_needed(p, 1.0) > n * (1 - 1e-6)
    else:
        assert samples_needed(p, rate) == pytest.approx(n, rel=1e-6)


def test_too_few_samples_detect_no_rate() -> None:
    assert detectable_proportion(0.9, 5) is None
    assert detectable_proportion(1.0, 10**6) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: minimum_detectable_effect(0.5, 0),
        lambda: minimum_detectable_effect(-0.5, 10),
        lambda: minimum_detectable_effect(math.nan, 10),
        lambda: minimum_detectable_effect(0.5, 10, design_effect=0),
        lambda: minimum_detectable_effect(0.5, 10, power=1.0),
        lambda: detectable_proportion(1.5, 100),
        lambda: detectable_proportion(0.5, 0),
    ],
)
def test_impossible_designs_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        call()
