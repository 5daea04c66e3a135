"""The order of values makes no difference, not even in the last bit: journals come in the order of their ends."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from benchwright.stats.arrays import exact_mean, exact_sum
from benchwright.stats.paired_tests import paired_difference
from benchwright.stats.rank_tests import rank_association
from benchwright.stats.ratios import clustered_ratio
from benchwright.stats.score_means import estimate_mean
from benchwright.stats.trend import paired_trend
from benchwright.stats.unpaired_tests import unpaired_difference

scores = st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.7, 1.0]) | st.floats(0, 1)
rows = st.lists(st.tuples(scores, scores, st.integers(0, 4)), min_size=3, max_size=40)


@given(rows, st.randoms(use_true_random=False))
@example([(0.0, 0.0, 0), (0.0, 5.8e-288, 0), (0.1, 0.0, 1)], random.Random(1))
def test_figures_are_the_same_bit_by_bit(
    given_rows: list[tuple[float, float, int]], dice: random.Random
) -> None:
    mixed = dice.sample(given_rows, len(given_rows))

    def figures(rows: list[tuple[float, float, int]]) -> list[object]:
        a, b, groups = (list(column) for column in zip(*rows, strict=True))
        outcomes = [float(value > 0.5) for value in a]
        return [
            paired_difference(a, b),
            paired_difference(a, b, groups),
            unpaired_difference(a, b),
            estimate_mean(a),
            estimate_mean(a, groups),
            estimate_mean(a, groups=groups),
            clustered_ratio(a, b, groups),
            rank_association(outcomes, b, groups),
            paired_trend(np.column_stack([a, b]), [1.0, 3.0], groups),
        ]

    assert figures(mixed) == figures(given_rows)


def test_a_sum_is_rounded_once() -> None:
    tenths = np.full(10, 0.1)
    assert exact_sum(tenths) == 1.0
    assert exact_sum(np.array([1e16, 1.0, -1e16])) == 1.0
    assert exact_mean(tenths) == 0.1


def test_what_has_no_finite_sum_is_infinite_or_not_a_number() -> None:
    assert exact_sum(np.array([np.inf, 1.0])) == np.inf
    assert np.isnan(exact_sum(np.array([np.inf, -np.inf])))
    assert np.isnan(exact_mean(np.array([])))
    assert exact_sum(np.array([1e308, 1e308])) == np.inf
