from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from benchwright.stats.intervals import (
    Interval,
    clopper_pearson,
    normal_interval,
    t_around,
    t_interval,
    wilson,
)

confidences = st.floats(0.5, 0.999)
counts = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
proportion_intervals = pytest.mark.parametrize("interval", [wilson, clopper_pearson])


def wald(successes: int, n: int) -> Interval:
    return normal_interval(np.repeat([1.0, 0.0], [successes, n - successes]))


def coverage(interval: Callable[[int, int], Interval], n: int, p: float) -> float:
    """The exact chance that the interval holds p: a sum over all outcomes."""
    holds = [low <= p <= high for low, high in (interval(k, n) for k in range(n + 1))]
    return float(scipy_stats.binom.pmf(np.flatnonzero(holds), n, p).sum())


@pytest.mark.parametrize(
    ("n", "p", "of_wald", "of_wilson", "of_clopper_pearson"),
    [
        (15, 0.9, 0.792, 0.944, 0.987),
        (15, 0.95, 0.536, 0.964, 0.995),
        (30, 0.9, 0.809, 0.974, 0.992),
        (89, 0.95, 0.936, 0.956, 0.976),
        (164, 0.95, 0.908, 0.953, 0.972),
        (500, 0.95, 0.932, 0.950, 0.960),
    ],
)
def test_exact_coverage_of_a_nominal_95_percent(
    n: int, p: float, of_wald: float, of_wilson: float, of_clopper_pearson: float
) -> None:
    assert coverage(wald, n, p) == pytest.approx(of_wald, abs=5.1e-4)
    assert coverage(wilson, n, p) == pytest.approx(of_wilson, abs=5.1e-4)
    assert coverage(clopper_pearson, n, p) == pytest.approx(of_clopper_pearson, abs=5.1e-4)


@pytest.mark.parametrize("p", [0.01, 0.05, 0.3, 0.5, 0.77, 0.99])
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_clopper_pearson_never_covers_less_than_it_says(n: int, p: float) -> None:
    assert coverage(clopper_pearson, n, p) >= 0.95


def test_fifteen_of_fifteen_is_no_certainty() -> None:
    assert wald(15, 15) == (1, 1)
    assert wilson(15, 15) == pytest.approx((0.796, 1), abs=5e-4)
    assert clopper_pearson(15, 15) == pytest.approx((0.782, 1), abs=5e-4)


@given(counts, confidences)
def test_wilson_agrees_with_scipy(count: tuple[int, int], confidence: float) -> None:
    expected = scipy_stats.binomtest(*count).proportion_ci(confidence, method="wilson")
    assert wilson(*count, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(counts, confidences)
def test_clopper_pearson_agrees_with_scipy(count: tuple[int, int], confidence: float) -> None:
    expected = scipy_stats.binomtest(*count).proportion_ci(confidence, method="exact")
    assert clopper_pearson(*count, confidence) == pytest.approx((expected.low, expected.high), abs=1e-10)


@proportion_intervals
@given(counts, confidences)
def test_it_holds_the_rate_and_stays_between_0_and_1(
    interval: Callable[..., Interval], count: tuple[int, int], confidence: float
) -> None:
    successes, n = count
    low, high = interval(successes, n, confidence)
    assert 0 <= low <= successes / n <= high <= 1


@proportion_intervals
@given(counts)
def test_failures_mirror_successes(interval: Callable[..., Interval], count: tuple[int, int]) -> None:
    successes, n = count
    low, high = interval(n - successes, n)
    assert interval(successes, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@proportion_intervals
@given(counts)
def test_one_more_success_raises_both_ends(interval: Callable[..., Interval], count: tuple[int, int]) -> None:
    successes, n = count
    before, after = interval(max(0, successes - 1), n), interval(max(1, successes), n)
    assert before.low <= after.low
    assert before.high <= after.high


@proportion_intervals
def test_of_nothing_nothing_is_known(interval: Callable[..., Interval]) -> None:
    assert interval(0, 0) == (0, 1)


@proportion_intervals
@pytest.mark.parametrize("arguments", [(3, 2), (-1, 2), (1, 2, 0.0), (1, 2, 1.0), (math.nan, 2)])
def test_impossible_counts_are_refused(
    interval: Callable[..., Interval], arguments: tuple[float, ...]
) -> None:
    with pytest.raises(ValueError, match="lie"):
        interval(*arguments)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40), confidences)
def test_t_agrees_with_scipy(values: list[float], confidence: float) -> None:
    half = (
        scipy_stats.t.ppf((1 + confidence) / 2, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    )
    mean = np.mean(values)
    assert t_interval(values, confidence) == pytest.approx((mean - half, mean + half), rel=1e-9, abs=1e-9)


def test_t_of_equal_values_has_no_width() -> None:
    assert t_interval([0.5, 0.5, 0.5]) == (0.5, 0.5)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, math.nan], [1.0, math.inf], [[1.0, 2.0]]])
def test_t_refuses_what_has_no_interval(values: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"two values|finite|one-dimensional"):
        t_interval(values)


def test_t_around_is_symmetric_and_approaches_the_normal_interval() -> None:
    assert t_around(5.0, 2.0, 1e6) == pytest.approx((5 - 1.96 * 2, 5 + 1.96 * 2), abs=1e-3)


def test_the_documented_interval_is_mean_and_196_population_errors() -> None:
    scores = [1.0, 0.0, 1.0, 1.0]
    half = 1.96 * math.sqrt(0.75 * 0.25) / 2
    assert normal_interval(scores) == pytest.approx((0.75 - half, 0.75 + half))


def test_the_documented_interval_is_guarded_for_few_values() -> None:
    assert normal_interval([]) == (0, 0)
    assert normal_interval([0.4]) == (0.4, 0.4)
