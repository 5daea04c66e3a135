from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.known import known

from benchwright.stats.passk import mean_pass_at_k, mean_pass_hat_k, pass_at_k, pass_hat_k
from benchwright.stats.score_means import estimate_mean

trials = st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@pytest.mark.parametrize(("k", "expected"), [(1, 0.7), (2, 14 / 15), (3, 119 / 120), (4, 1.0), (10, 1.0)])
def test_seven_passes_of_ten(k: int, expected: float) -> None:
    assert pass_at_k(10, 7, k) == pytest.approx(expected, abs=1e-15)


def test_reliability_of_seven_passes_of_ten() -> None:
    assert pass_hat_k(10, 7, 1) == pytest.approx(0.7)
    assert pass_hat_k(10, 7, 2) == pytest.approx(21 / 45)
    assert pass_hat_k(10, 7, 8) == 0


@pytest.mark.parametrize("n", range(1, 8))
def test_both_are_averages_over_all_choices_of_k(n: int) -> None:
    for c in range(n + 1):
        outcomes = [True] * c + [False] * (n - c)
        for k in range(1, n + 1):
            chosen = list(combinations(outcomes, k))
            assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, chosen)) / len(chosen), abs=1e-15)
            assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, chosen)) / len(chosen), abs=1e-15)


@given(trials)
def test_one_more_pass_never_hurts(case: tuple[int, int, int]) -> None:
    n, c, k = case
    fewer = max(0, c - 1)
    assert pass_at_k(n, fewer, k) <= pass_at_k(n, c, k)
    assert pass_hat_k(n, fewer, k) <= pass_hat_k(n, c, k)


@given(trials)
def test_any_rises_and_all_falls_with_k(case: tuple[int, int, int]) -> None:
    n, c, k = case
    assert pass_at_k(n, c, max(1, k - 1)) <= pass_at_k(n, c, k) <= 1
    assert pass_hat_k(n, c, max(1, k - 1)) >= pass_hat_k(n, c, k) >= 0


@given(trials)
def test_failing_always_is_passing_never(case: tuple[int, int, int]) -> None:
    n, c, k = case
    assert pass_at_k(n, c, k) == pytest.approx(1 - pass_hat_k(n, n - c, k), abs=1e-15)


@given(trials)
def test_once_is_the_rate(case: tuple[int, int, int]) -> None:
    n, c, _ = case
    assert pass_at_k(n, c, 1) == pytest.approx(c / n)
    assert pass_hat_k(n, c, 1) == pytest.approx(c / n)


def test_many_trials_lose_no_digits() -> None:
    assert pass_at_k(10_000, 1, 5_000) == pytest.approx(0.5, abs=1e-15)
    assert pass_at_k(10_000, 5, 10) == pytest.approx(1 - comb(9_995, 10) / comb(10_000, 10), rel=1e-12)


@pytest.mark.parametrize("arguments", [(5, 3, 6), (5, 3, 0), (5, 6, 1), (5, -1, 1), (0, 0, 1)])
@pytest.mark.parametrize("formula", [pass_at_k, pass_hat_k])
def test_k_beyond_the_trials_and_impossible_passes_are_refused(
    formula: Callable[[int, int, int], float], arguments: tuple[int, int, int]
) -> None:
    with pytest.raises(ValueError, match="lie"):
        formula(*arguments)


def test_the_mean_is_over_samples() -> None:
    result = mean_pass_at_k([10, 4], [7, 0], 3)
    assert result.mean == pytest.approx((119 / 120 + 0) / 2)
    assert (result.n_samples, result.n_values) == (2, 14)
    assert mean_pass_hat_k([10, 4], [7, 4], 2).mean == pytest.approx((21 / 45 + 1) / 2)


def test_with_k_1_it_is_the_estimate_of_the_rate() -> None:
    passes, groups = [3, 0, 4, 2, 1, 4], ["x", "x", "x", "y", "y", "z"]
    values = [float(repeat < c) for c in passes for repeat in range(4)]
    samples = [number for number in range(6) for _ in range(4)]
    of_values = [group for group in groups for _ in range(4)]
    for by_count, by_value in (
        (mean_pass_at_k([4] * 6, passes, 1), estimate_mean(values, samples)),
        (mean_pass_hat_k([4] * 6, passes, 1, groups), estimate_mean(values, samples, of_values)),
    ):
        assert by_count.interval == pytest.approx(by_value.interval)
        assert by_count.se == pytest.approx(by_value.se)
        assert by_count.method == by_value.method == "wilson-effective-n"


def test_always_passing_leaves_a_doubt() -> None:
    low, high = known(mean_pass_at_k([5] * 15, [5] * 15, 3).interval)
    assert 0.7 < low < 0.85
    assert high == 1


def test_a_sample_with_too_few_trials_is_refused() -> None:
    with pytest.raises(ValueError, match="k=5 with 3 trials"):
        mean_pass_at_k([5, 3], [1, 1], 5)


def test_unequal_numbers_of_trials_and_passes_are_refused() -> None:
    with pytest.raises(ValueError, match="equally many"):
        mean_pass_at_k([5, 3], [1], 1)
