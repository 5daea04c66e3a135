"""Steady state: where a warm-up ends, and what is called a drift."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.steady_state import MAX_DRIFT_P_VALUE, estimate_drift, warm_up_length


def noise(seed: int, size: int, around: float = 1.0) -> np.ndarray:
    values: np.ndarray = np.random.default_rng(seed).normal(around, 0.1, size)
    return values


@given(st.integers(0, 50), st.integers(10, 80))
def test_a_slow_beginning_is_left_out_and_little_else(seed: int, slow: int) -> None:
    values = np.concatenate([noise(seed, slow, 3.0), noise(seed + 1, 300)])
    assert slow - 5 <= warm_up_length(values) <= slow + 150


def test_at_most_half_is_left_out() -> None:
    assert warm_up_length(np.arange(100.0)) <= 50


def test_equal_values_have_no_warm_up() -> None:
    assert warm_up_length(np.full(100, 0.3)) == 0


def test_few_values_have_none_that_could_be_found() -> None:
    assert warm_up_length([9.0, *[1.0] * 30]) == 0


def test_what_grows_is_a_drift_and_its_size_is_told() -> None:
    found = estimate_drift(np.linspace(1.0, 2.0, 1000) + noise(1, 1000, 0.0))
    assert found is not None
    assert found.p_value < MAX_DRIFT_P_VALUE
    assert found.change == pytest.approx(0.6, abs=0.05), (
        "0.9 from the first to the last tenth, of a mean of 1.5"
    )


@pytest.mark.parametrize("kind", ["even", "heavy"])
def test_steady_values_are_rarely_called_drifting(kind: str) -> None:
    """In 1,000 series, some with a heavy tail, the test alarms about as often as its level says."""
    generator = np.random.default_rng(7)
    drawn = generator.lognormal(0, 1.2, (1000, 200)) if kind == "heavy" else generator.random((1000, 200))
    tests = [found for values in drawn if (found := estimate_drift(values)) is not None]
    assert sum(found.p_value < MAX_DRIFT_P_VALUE for found in tests) <= 5


def test_values_without_noise_drift_or_do_not() -> None:
    assert estimate_drift(np.full(50, 2.0)) == (0.0, 1.0)
    grows = estimate_drift(np.arange(50.0))
    assert grows is not None
    assert grows.p_value == 0.0


def test_few_values_have_no_drift() -> None:
    assert estimate_drift(np.arange(19.0)) is None
    assert estimate_drift(np.zeros(50)) is None
