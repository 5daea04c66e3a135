from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from tests.known import known

from benchwright.stats.paired_tests import (
    PairedDifference,
    agresti_min_interval,
    match_pairs,
    mcnemar_test,
    paired_difference,
)
from benchwright.stats.score_means import sample_means

scores = st.floats(-10, 10).map(lambda value: round(value, 2))
pairs = st.lists(st.tuples(scores, scores), min_size=3, max_size=30)
counts = st.integers(0, 200)


def sides(rows: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [a for a, _ in rows], [b for _, b in rows]


@given(pairs.filter(lambda rows: len({round(a - b, 6) for a, b in rows}) > 1))
def test_graded_scores_get_the_paired_t_test(rows: list[tuple[float, float]]) -> None:
    a, b = sides(rows)
    a[0] += 0.005  # never all 0 or 1
    result = paired_difference(a, b)
    expected = scipy_stats.ttest_rel(a, b)
    interval = expected.confidence_interval()
    assert (result.method, result.test) == ("t", "t")
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
    assert result.interval == pytest.approx((interval.low, interval.high), rel=1e-6, abs=1e-9)


@given(pairs)
def test_swapping_the_sides_turns_the_sign(rows: list[tuple[float, float]]) -> None:
    a, b = sides(rows)
    one, other = paired_difference(a, b), paired_difference(b, a)
    assert other.difference == pytest.approx(-one.difference, abs=1e-12)
    assert (other.wins, other.losses, other.ties) == (one.losses, one.wins, one.ties)
    assert other.p_value == pytest.approx(one.p_value)
    if one.interval is not None:
        assert other.interval == pytest.approx((-one.interval.high, -one.interval.low))


@given(pairs)
def test_wins_losses_and_ties_are_all_pairs(rows: list[tuple[float, float]]) -> None:
    result = paired_difference(*sides(rows))
    assert result.wins == sum(a > b for a, b in rows)
    assert result.losses == sum(a < b for a, b in rows)
    assert result.wins + result.losses + result.ties == result.n == len(rows)


def test_agreement_makes_pairs_worth_having() -> None:
    generator = np.random.default_rng(4)
    difficulty = generator.random(200)
    a = difficulty + generator.normal(0, 0.02, 200)
    b = difficulty + generator.normal(0, 0.02, 200)
    result = paired_difference(a, b)
    assert result.correlation == pytest.approx(np.corrcoef(a, b)[0, 1])
    assert known(result.correlation) > 0.98
    assert result.sd == pytest.approx(np.std(a - b, ddof=1))


def test_a_side_that_does_not_vary_has_no_correlation() -> None:
    assert paired_difference([1.0, 1.0, 1.0], [0.0, 0.5, 1.0]).correlation is None


def test_mcnemar_of_the_textbook() -> None:
    """Airway hyper-responsiveness (Bentur et al. 2009) in Fagerland, Lydersen and Laake (2013)."""
    result = mcnemar_test(1, 7)
    assert result.exact_p_value == pytest.approx(0.0703, abs=5e-5)
    assert result.mid_p_value == pytest.approx(0.0391, abs=5e-5)


@given(counts, counts)
def test_mcnemar_is_the_sign_test_in_exact_fractions(wins: int, losses: int) -> None:
    n, fewer = wins + losses, min(wins, losses)
    terms = [Fraction(math.comb(n, k), 2**n) for k in range(fewer + 1)]
    result = mcnemar_test(wins, losses)
    assert result.exact_p_value == pytest.approx(float(min(1, 2 * sum(terms))), rel=1e-10)
    assert result.mid_p_value == pytest.approx(float(2 * sum(terms) - terms[-1]), rel=1e-10)
    assert result.exact_p_value == pytest.approx(scipy_stats.binomtest(wins, n).pvalue if n else 1, rel=1e-9)


@given(counts, counts)
def test_mcnemar_does_not_care_who_won(wins: int, losses: int) -> None:
    assert mcnemar_test(wins, losses) == mcnemar_test(losses, wins)
    assert 0 < mcnemar_test(wins, losses).mid_p_value <= mcnemar_test(wins, losses).exact_p_value <= 1


def test_many_discordant_pairs_are_no_burden() -> None:
    assert mcnemar_test(500_000, 502_000).mid_p_value == pytest.approx(
        2 * scipy_stats.norm.sf(1.998), rel=2e-3
    )


def rejection_rate(n: int, discordant: float) -> float:
    """The exact chance that mid-p finds a difference where there is none."""
    losses_and_wins = [(k, float(scipy_stats.binom.pmf(k, n, discordant))) for k in range(n + 1)]
    return sum(
        chance * float(scipy_stats.binom.pmf(wins, k, 0.5))
        for k, chance in losses_and_wins
        for wins in range(k + 1)
        if mcnemar_test(wins, k - wins).mid_p_value <= 0.05
    )


@pytest.mark.parametrize(("n", "discordant"), [(10, 0.5), (15, 0.2), (30, 0.1), (40, 0.4)])
def test_mid_p_keeps_its_level(n: int, discordant: float) -> None:
    assert rejection_rate(n, discordant) <= 0.05


def outcomes_of(n: int) -> list[tuple[int, int]]:
    return [(wins, losses) for wins in range(n + 1) for losses in range(n - wins + 1)]


@pytest.mark.parametrize("rates", [(0.05, 0.05), (0.1, 0.05), (0.3, 0.1), (0.04, 0.01)])
@pytest.mark.parametrize("n", [15, 30, 60])
def test_exact_coverage_of_agresti_and_min(n: int, rates: tuple[float, float]) -> None:
    """At least 93.5 % everywhere; t would cover 54 % of (0.04, 0.01) at n = 15."""
    truth = rates[0] - rates[1]
    held = [
        each
        for each in outcomes_of(n)
        if agresti_min_interval(*each, n)[0] <= truth <= agresti_min_interval(*each, n)[1]
    ]
    held_counts = [(wins, losses, n - wins - losses) for wins, losses in held]
    assert scipy_stats.multinomial.pmf(held_counts, n, [*rates, 1 - sum(rates)]).sum() >= 0.935


def test_agresti_and_min_by_hand() -> None:
    """Half a pair more in each cell: 1.5 wins, 7.5 losses of 23."""
    difference, variance = -6 / 23, (9 / 23 - (6 / 23) ** 2) / 23
    half = 1.959964 * math.sqrt(variance)
    assert agresti_min_interval(1, 7, 21) == pytest.approx((difference - half, difference + half), abs=1e-6)


def test_0_1_scores_get_mcnemar() -> None:
    a = [0] * 7 + [1] + [0] * 12 + [1]
    b = [1] * 7 + [0] + [0] * 12 + [1]
    result = paired_difference(a, b)
    assert (result.method, result.test) == ("agresti-min", "mcnemar-mid-p")
    assert (result.wins, result.losses, result.ties) == (1, 7, 13)
    assert result.difference == pytest.approx(-6 / 21)
    assert result.p_value == mcnemar_test(1, 7).mid_p_value
    assert result.interval == agresti_min_interval(1, 7, 21)


def test_no_difference_seen_is_not_no_difference() -> None:
    result = paired_difference([1.0] * 15, [1.0] * 15)
    assert (result.difference, result.p_value) == (0, 1)
    low, high = known(result.interval)
    assert low < -0.05 < 0.05 < high


def test_groups_carry_the_error() -> None:
    a = np.repeat([0.9, 0.4, 0.8, 0.3, 0.6], 4)
    b = np.repeat([0.5, 0.5, 0.6, 0.1, 0.7], 4)
    grouped = paired_difference(a, b, np.repeat(range(5), 4))
    once = paired_difference(a[::4], b[::4])
    assert (grouped.method, grouped.test, grouped.n_groups) == ("cluster-t", "cluster-t", 5)
    assert grouped.p_value == pytest.approx(once.p_value)
    assert grouped.interval == pytest.approx(once.interval)
    assert grouped.design_effect == pytest.approx(4 * (19 / 20) * (5 / 4))


def test_grouped_0_1_scores_are_not_mcnemar_s() -> None:
    result = paired_difference([1, 1, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0], ["x", "x", "y", "y", "z", "z"])
    assert (result.method, result.test) == ("cluster-t", "cluster-t")


def test_equal_differences_have_the_sign_test_and_no_interval() -> None:
    """Thirds and tenths leave rounding noise, which is not variation."""
    result = paired_difference([0.3, 0.8, 0.5, 0.6], [0.2, 0.7, 0.4, 0.5])
    assert (result.method, result.interval, result.test) == ("none", None, "sign")
    assert result.p_value == 2 * 0.5**4


def test_the_sign_test_counts_groups_not_samples() -> None:
    result = paired_difference([1.0] * 6, [0.0] * 6, ["x", "x", "y", "y", "z", "z"])
    assert (result.test, result.p_value) == ("sign", 2 * 0.5**3)


def test_equal_scores_differ_with_certainty_nowhere() -> None:
    result = paired_difference([0.3, 0.8, 0.5], [0.3, 0.8, 0.5])
    assert (result.p_value, result.interval, result.ties) == (1, None, 3)


@pytest.mark.parametrize("arguments", [([0.5], [0.7]), ([0.5, 0.6], [0.7, 0.1], ["x", "x"])])
def test_one_sample_or_group_tells_nothing(arguments: tuple[Any, ...]) -> None:
    result = paired_difference(*arguments)
    assert (result.method, result.test, result.interval, result.p_value) == ("none", "none", None, None)


def test_sides_are_matched_by_sample() -> None:
    a = sample_means([1.0, 0.0, 0.5, 0.2], ["q1", "q1", "q2", "q3"])
    b = sample_means([0.9, 0.1, 0.7], ["q3", "q4", "q1"])
    matched = match_pairs(a, b)
    assert matched.samples == ["q1", "q3"]
    assert matched.values_a.tolist() == [0.5, 0.2]
    assert matched.values_b.tolist() == [0.7, 0.9]


def test_sides_without_a_common_sample_match_nothing() -> None:
    matched = match_pairs(sample_means([1.0], ["q1"]), sample_means([1.0], ["q2"]))
    assert (matched.samples, matched.values_a.size, matched.values_b.size) == ([], 0, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "no values"),
        (([1.0], [1.0, 2.0]), "equally many"),
        (([1.0, math.nan], [1.0, 2.0]), "a must be finite"),
        (([1.0, 2.0], [1.0, 2.0], ["x"]), "equally many"),
    ],
)
def test_what_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paired_difference(*arguments)


@pytest.mark.parametrize("call", [lambda: mcnemar_test(-1, 2), lambda: agresti_min_interval(3, 3, 5)])
def test_impossible_counts_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="count"):
        call()


def test_a_result_survives_json() -> None:
    result = paired_difference([1.0, 0.5, 0.2], [0.3, 0.4, 0.9])
    assert msgspec.json.decode(msgspec.json.encode(result), type=PairedDifference) == result
