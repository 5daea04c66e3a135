from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from tests.known import known

from benchwright.stats.unpaired_tests import newcombe_interval, two_proportion_test, unpaired_difference

scores = st.lists(st.floats(-10, 10).map(lambda value: round(value, 2)), min_size=2, max_size=25).filter(
    lambda values: len(set(values)) > 1
)
counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(scores, scores)
def test_graded_scores_get_welch(a: list[float], b: list[float]) -> None:
    a[0] += 0.005  # never all 0 or 1
    result = unpaired_difference(a, b)
    expected = scipy_stats.ttest_ind(a, b, equal_var=False)
    interval = expected.confidence_interval()
    assert result.method == "welch"
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
    assert result.interval == pytest.approx((interval.low, interval.high), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((10, 10), (0, 20), (0.6791, 1.0)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ],
)
def test_newcombe_s_own_examples(
    a: tuple[int, int], b: tuple[int, int], expected: tuple[float, float]
) -> None:
    """Newcombe (1998), table II, method 10."""
    assert newcombe_interval(*a, *b) == pytest.approx(expected, abs=5.1e-5)


@given(counts, counts)
def test_newcombe_holds_the_difference_and_stays_between_minus_1_and_1(
    a: tuple[int, int], b: tuple[int, int]
) -> None:
    low, high = newcombe_interval(*a, *b)
    assert -1 <= low <= a[0] / a[1] - b[0] / b[1] <= high <= 1


@given(counts, counts)
def test_swapping_the_sides_turns_the_sign(a: tuple[int, int], b: tuple[int, int]) -> None:
    low, high = newcombe_interval(*a, *b)
    assert newcombe_interval(*b, *a) == pytest.approx((-high, -low))
    assert two_proportion_test(*b, *a) == pytest.approx(two_proportion_test(*a, *b))


@given(counts, counts)
def test_the_score_test_is_the_chi_square_without_correction(a: tuple[int, int], b: tuple[int, int]) -> None:
    table = [[a[0], a[1] - a[0]], [b[0], b[1] - b[0]]]
    if a[0] + b[0] in (0, a[1] + b[1]):
        assert two_proportion_test(*a, *b) == 1
    else:
        expected = scipy_stats.chi2_contingency(table, correction=False).pvalue
        assert two_proportion_test(*a, *b) == pytest.approx(expected, rel=1e-6)


def test_0_1_scores_get_the_score_interval() -> None:
    result = unpaired_difference([1.0] * 56 + [0.0] * 14, [1.0] * 48 + [0.0] * 32)
    assert result.method == "score"
    assert result.interval == newcombe_interval(56, 70, 48, 80)
    assert result.p_value == two_proportion_test(56, 70, 48, 80)
    assert (result.mean_a, result.mean_b) == pytest.approx((0.8, 0.6))


def test_perfect_on_both_sides_is_no_certainty() -> None:
    result = unpaired_difference([1.0] * 10, [1.0] * 10)
    assert result.p_value == 1
    low, high = known(result.interval)
    assert low < -0.2 < 0.2 < high


@pytest.mark.parametrize("sides", [([0.5], [0.1, 0.7]), ([0.5, 0.5], [0.7, 0.7])])
def test_where_the_data_cannot_tell_there_is_no_interval(sides: tuple[list[float], list[float]]) -> None:
    result = unpaired_difference(*sides)
    assert (result.method, result.interval, result.p_value) == ("none", None, None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unpaired_difference([], [1.0]), "both sides need values"),
        (lambda: unpaired_difference([1.0], [math.inf]), "b must be finite"),
        (lambda: newcombe_interval(0, 0, 1, 2), "both sides need samples"),
        (lambda: newcombe_interval(3, 2, 1, 2), "successes lie"),
        (lambda: two_proportion_test(0, 0, 1, 2), "both sides need samples"),
    ],
)
def test_what_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_spread_too_small_to_square_twice_still_has_an_interval() -> None:
    found = unpaired_difference([0.0, 0.0, 0.0], [0.0, 0.0, 2e-159])
    assert found.method == "welch"
    assert known(found.interval).low < found.difference < known(found.interval).high
