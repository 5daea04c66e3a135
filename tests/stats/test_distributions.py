"""Against scipy, over the parameters that intervals and tests ask for."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from benchwright.stats import distributions as ours

shapes = st.floats(-0.3, 6).map(lambda exponent: 10.0**exponent)
shapes_of_counts = st.floats(0, 6).map(lambda exponent: 10.0**exponent)
degrees = st.floats(0, 6).map(lambda exponent: 10.0**exponent)
chances = st.floats(1e-6, 1 - 1e-6)


@given(st.floats(-30, 30))
def test_normal_cdf(x: float) -> None:
    assert ours.normal_cdf(x) == pytest.approx(scipy_stats.norm.cdf(x), rel=1e-12)


@given(chances)
def test_normal_quantile(p: float) -> None:
    assert ours.normal_quantile(p) == pytest.approx(scipy_stats.norm.ppf(p), rel=1e-12, abs=1e-13)


@given(st.floats(-30, 30), degrees)
@example(1.6612174484640042e-09, 1.0)
def test_t_cdf(t: float, df: float) -> None:
    # Of a tiny t, SciPy drops all digits: there the density at 0 is more exact.
    right = 0.5 + t * scipy_stats.t.pdf(0, df) if abs(t) < 1e-6 else scipy_stats.t.cdf(t, df)
    assert ours.t_cdf(t, df) == pytest.approx(right, rel=1e-9, abs=1e-200)


@given(chances, degrees)
@example(0.5, 3.0)
@example(0.975, 1.0)
def test_t_quantile(p: float, df: float) -> None:
    assert ours.t_quantile(p, df) == pytest.approx(scipy_stats.t.ppf(p, df), rel=1e-9, abs=1e-10)


@given(st.floats(-20, 20), degrees)
def test_t_is_symmetric(t: float, df: float) -> None:
    assert ours.t_cdf(t, df) + ours.t_cdf(-t, df) == pytest.approx(1, abs=1e-15)


def test_t_with_one_degree_of_freedom_is_the_cauchy_distribution() -> None:
    assert ours.t_cdf(1.0, 1) == pytest.approx(0.75, abs=1e-15)
    assert ours.t_quantile(0.975, 1) == pytest.approx(math.tan(0.475 * math.pi), rel=1e-13)


def test_t_at_infinity() -> None:
    assert (ours.t_cdf(-math.inf, 5), ours.t_cdf(math.inf, 5)) == (0.0, 1.0)


@given(st.data(), st.integers(0, 20_000), st.floats(0, 1))
def test_binomial_cdf(data: st.DataObject, n: int, p: float) -> None:
    k = data.draw(st.integers(-1, n + 1))
    assert ours.binomial_cdf(k, n, p) == pytest.approx(scipy_stats.binom.cdf(k, n, p), rel=1e-9, abs=1e-13)


@given(st.floats(0.001, 0.999), st.integers(1, 3000), st.floats(0.01, 0.99))
def test_a_binomial_quantile_is_the_first_to_reach_its_probability(q: float, n: int, p: float) -> None:
    k = ours.binomial_quantile(q, n, p)
    assert ours.binomial_cdf(k, n, p) >= q > ours.binomial_cdf(k - 1, n, p)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ours.normal_quantile(0.0),
        lambda: ours.t_quantile(1.0, 3),
        lambda: ours.t_cdf(1.0, 0),
        lambda: ours.t_cdf(math.nan, 3),
        lambda: ours.binomial_cdf(1, 2, 1.5),
        lambda: ours.binomial_quantile(2.0, 5, 0.5),
    ],
)
def test_what_lies_outside_the_domain_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        call()


@pytest.mark.parametrize("p", [1e-6, 0.025, 0.5, 0.975])
@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.5, 50.5), (30.5, 20.5), (700.8, 300.7)])
def test_beta_quantile(p: float, a: float, b: float) -> None:
    assert ours.beta_quantile(p, a, b) == pytest.approx(scipy_stats.beta.ppf(p, a, b), rel=1e-8)


@pytest.mark.parametrize(
    ("k", "drawn", "marked", "total"), [(20, 50, 700, 1000), (5, 5, 5, 9), (0, 10, 0, 20)]
)
def test_the_hypergeometric_p_value_is_that_of_fishers_exact_test(
    k: int, drawn: int, marked: int, total: int
) -> None:
    table = [[k, drawn - k], [marked - k, total - marked - drawn + k]]
    expected = scipy_stats.fisher_exact(table)[1]
    assert ours.hypergeometric_p_value(k, drawn, marked, total) == pytest.approx(expected, rel=1e-6)


def test_more_marked_ones_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="6 marked of 10 drawn"):
        ours.hypergeometric_p_value(6, 10, 5, 20)
