from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.clusters import clustered_mean, effective_sample_size

scores = st.floats(-10, 10).map(lambda value: round(value, 3))
grouped = st.lists(st.tuples(scores, st.integers(0, 5)), min_size=2, max_size=40)


def brute_force_se(values: list[float], groups: list[int]) -> float:
    """Miller's double sum over all pairs in a group, with the correction for few groups."""
    mean = math.fsum(values) / len(values)
    total = math.fsum(
        (one - mean) * (other - mean)
        for one, its in zip(values, groups, strict=True)
        for other, others in zip(values, groups, strict=True)
        if its == others
    )
    n_groups = len(set(groups))
    return math.sqrt(max(0.0, total) * n_groups / (n_groups - 1)) / len(values)


@given(grouped)
def test_the_error_is_the_sum_over_all_pairs_within_groups(rows: list[tuple[float, int]]) -> None:
    values, groups = [value for value, _ in rows], [group for _, group in rows]
    result = clustered_mean(values, groups)
    if len(set(groups)) < 2:
        assert result.se is None
    else:
        assert result.se == pytest.approx(brute_force_se(values, groups), rel=1e-6, abs=1e-7)


@given(grouped, st.randoms(use_true_random=False))
def test_order_and_names_of_groups_do_not_matter(rows: list[tuple[float, int]], random: Random) -> None:
    shuffled = random.sample(rows, len(rows))
    one = clustered_mean([value for value, _ in rows], [group for _, group in rows])
    other = clustered_mean([value for value, _ in shuffled], [f"group {-group}" for _, group in shuffled])
    for after, before in zip(other, one, strict=True):
        assert after is before is None or after == pytest.approx(before, rel=1e-6, abs=1e-6)


def test_groups_of_one_are_independent_values() -> None:
    values = [0.2, 0.9, 0.4, 0.7, 0.1]
    result = clustered_mean(values, range(5))
    assert result.se == pytest.approx(np.std(values, ddof=1) / math.sqrt(5))
    assert result.df == pytest.approx(4)
    assert result.design_effect == pytest.approx(1)
    assert not result.has_clusters


def test_no_group_is_a_group_of_its_own() -> None:
    values = [1.0, 2.0, 4.0, 8.0]
    assert clustered_mean(values, ["a", "a", None, None]) == clustered_mean(values, ["a", "a", "b", "c"])


def test_copies_of_a_value_add_nothing() -> None:
    """Ten copies of each value, grouped: the error of the single values, and a design effect of ten."""
    values = np.array([0.1, 0.5, 0.7, 0.9, 0.2, 0.6])
    copied = clustered_mean(np.repeat(values, 10), np.repeat(np.arange(6), 10))
    assert copied.se == pytest.approx(np.std(values, ddof=1) / math.sqrt(6))
    assert copied.icc == pytest.approx(1)
    assert copied.design_effect == pytest.approx(10 * (59 / 60) * (6 / 5))


def test_equal_groups_have_one_degree_of_freedom_less_than_groups() -> None:
    assert clustered_mean(np.arange(12.0), np.repeat(range(4), 3)).df == pytest.approx(3)


def test_a_dominating_group_costs_degrees_of_freedom() -> None:
    sizes = [50, 2, 2, 2]
    result = clustered_mean(np.arange(56.0), np.repeat(range(4), sizes))
    assert result.df == pytest.approx(max(1, 56**2 / (50**2 + 3 * 4) - 1))


def test_intraclass_correlation_of_the_textbook() -> None:
    """Six targets rated four times, Shrout and Fleiss (1979), table 2: ICC(1,1) = 0.17."""
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    result = clustered_mean(np.ravel(ratings).astype(float), np.repeat(range(6), 4))
    assert result.icc == pytest.approx(0.1657, abs=5e-5)


def test_values_that_do_not_vary_have_no_error_and_no_design_effect() -> None:
    result = clustered_mean([0.1 + 0.2, 0.3, 0.3, 0.3], [0, 0, 1, 1])
    assert (result.se, result.design_effect, result.icc) == (0, None, None)


@pytest.mark.parametrize(
    ("values", "groups", "message"),
    [
        ([], [], "no values"),
        ([1.0, 2.0], ["a"], "equally many"),
        ([1.0, math.nan], ["a", "b"], "number 1 is nan"),
    ],
)
def test_what_has_no_clustered_mean_is_refused(values: list[float], groups: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clustered_mean(values, groups)


def test_an_effective_size_never_exceeds_the_values() -> None:
    assert effective_sample_size(100, 100, independent=0.01, actual=0.001, df=1e6, confidence=0.95) <= 100
    assert effective_sample_size(100, 100, independent=0.01, actual=0.0, df=1e6, confidence=0.95) <= 100


def test_an_effective_size_shrinks_with_the_design_effect() -> None:
    assert effective_sample_size(100, 10, 0.01, 0.04, df=1e6, confidence=0.95) == pytest.approx(25, rel=1e-4)


def test_without_variation_only_the_units_count() -> None:
    assert effective_sample_size(100, 10, 0.0, 0.0, df=1e6, confidence=0.95) == pytest.approx(10, rel=1e-4)
