from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from benchwright.stats.intervals import (
    Interval,
    documented_normal_interval,
    jeffreys_interval,
    t_interval,
    wilson_interval,
)

confidences = st.floats(0.5, 0.999)
counts = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def wald(successes: int, n: int) -> Interval:
    return documented_normal_interval(np.repeat([1.0, 0.0], [successes, n - successes]))


def coverage(interval: Callable[[int, int], Interval], n: int, p: float) -> float:
    """The exact chance that the interval holds p: a sum over all outcomes."""
    holds = [low <= p <= high for low, high in (interval(k, n) for k in range(n + 1))]
    return float(scipy_stats.binom.pmf(np.flatnonzero(holds), n, p).sum())


@pytest.mark.parametrize(
    ("n", "p", "of_wald", "of_wilson"),
    [
        (15, 0.9, 0.792, 0.944),
        (15, 0.95, 0.536, 0.964),
        (30, 0.9, 0.809, 0.974),
        (89, 0.95, 0.936, 0.956),
        (164, 0.95, 0.908, 0.953),
        (500, 0.95, 0.932, 0.950),
    ],
)
def test_exact_coverage_of_a_nominal_95_percent(n: int, p: float, of_wald: float, of_wilson: float) -> None:
    assert coverage(wald, n, p) == pytest.approx(of_wald, abs=5.1e-4)
    assert coverage(wilson_interval, n, p) == pytest.approx(of_wilson, abs=5.1e-4)


def test_fifteen_of_fifteen_is_no_certainty() -> None:
    assert wald(15, 15) == (1, 1)
    assert wilson_interval(15, 15) == pytest.approx((0.796, 1), abs=5e-4)


@given(counts, confidences)
def test_wilson_agrees_with_scipy(count: tuple[int, int], confidence: float) -> None:
    expected = scipy_stats.binomtest(*count).proportion_ci(confidence, method="wilson")
    assert wilson_interval(*count, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(counts, confidences)
def test_it_holds_the_rate_and_stays_between_0_and_1(count: tuple[int, int], confidence: float) -> None:
    successes, n = count
    low, high = wilson_interval(successes, n, confidence)
    assert 0 <= low <= successes / n <= high <= 1


@given(counts)
def test_failures_mirror_successes(count: tuple[int, int]) -> None:
    successes, n = count
    low, high = wilson_interval(n - successes, n)
    assert wilson_interval(successes, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(counts)
def test_one_more_success_raises_both_ends(count: tuple[int, int]) -> None:
    successes, n = count
    before, after = wilson_interval(max(0, successes - 1), n), wilson_interval(max(1, successes), n)
    assert before.low <= after.low
    assert before.high <= after.high


def test_of_nothing_nothing_is_known() -> None:
    assert wilson_interval(0, 0) == (0, 1)


@pytest.mark.parametrize("arguments", [(3, 2), (-1, 2), (1, 2, 0.0), (1, 2, 1.0), (math.nan, 2)])
def test_impossible_counts_are_refused(arguments: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="lie"):
        wilson_interval(*arguments)


def test_t_around_is_symmetric_and_approaches_the_normal_interval() -> None:
    assert t_interval(5.0, 2.0, 1e6) == pytest.approx((5 - 1.96 * 2, 5 + 1.96 * 2), abs=1e-3)


def test_the_documented_interval_is_mean_and_196_population_errors() -> None:
    scores = [1.0, 0.0, 1.0, 1.0]
    half = 1.96 * math.sqrt(0.75 * 0.25) / 2
    assert documented_normal_interval(scores) == pytest.approx((0.75 - half, 0.75 + half))


def test_the_documented_interval_is_guarded_for_few_values() -> None:
    assert documented_normal_interval([]) == (0, 0)
    assert documented_normal_interval([0.4]) == (0.4, 0.4)


def test_jeffreys_reaches_the_end_where_all_are_alike() -> None:
    assert jeffreys_interval(0, 20).low == 0.0
    assert jeffreys_interval(20, 20).high == 1.0
    assert jeffreys_interval(3, 50) == pytest.approx(scipy_stats.beta.ppf([0.025, 0.975], 3.5, 47.5))
