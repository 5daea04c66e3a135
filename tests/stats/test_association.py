"""Fast and slow, right and wrong: buckets, tests by ranks, and whether these keep their level."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from benchwright.stats.rank_tests import (
    midranks,
    quantile_buckets,
    rank_association,
    within_sample_association,
)

RUNS = 2000
MONTE_CARLO = 4 * math.sqrt(0.05 * 0.95 / RUNS)

values = st.floats(0, 100).map(lambda value: round(value, 1))
graded = st.lists(st.tuples(st.integers(0, 1), values, st.integers(0, 5)), min_size=2, max_size=40)


class TestBuckets:
    def test_quarters_of_eight(self) -> None:
        assert quantile_buckets([8, 7, 6, 5, 4, 3, 2, 1]).tolist() == [3, 3, 2, 2, 1, 1, 0, 0]

    def test_equal_values_are_in_one_bucket(self) -> None:
        assert quantile_buckets([1, 1, 1, 1, 1, 2, 3, 4]).tolist() == [0, 0, 0, 0, 0, 2, 3, 3]

    @given(st.lists(values, min_size=1, max_size=60))
    def test_a_higher_bucket_holds_only_higher_values(self, found: list[float]) -> None:
        codes = quantile_buckets(found)
        assert set(codes.tolist()) <= {0, 1, 2, 3}
        for code in range(3):
            lower = [value for value, own in zip(found, codes, strict=True) if own <= code]
            higher = [value for value, own in zip(found, codes, strict=True) if own > code]
            assert not lower or not higher or max(lower) < min(higher)

    @given(st.lists(values, min_size=4, max_size=60, unique=True))
    def test_buckets_of_different_values_are_as_equal_as_can_be(self, found: list[float]) -> None:
        counts = np.bincount(quantile_buckets(found), minlength=4)
        assert counts.max() - counts.min() <= 1


@given(st.lists(values, min_size=1, max_size=40))
def test_midranks_are_those_of_scipy(found: list[float]) -> None:
    assert midranks(np.array(found)).tolist() == scipy_stats.rankdata(found).tolist()


class TestRankAssociation:
    def test_pairs_counted_by_hand(self) -> None:
        # the wrong ones took 3 and 5, the right ones 1, 3 and 4: of six pairs 1.5 and 3 are slower
        found = rank_association([1, 0, 1, 1, 0], [1, 3, 3, 4, 5], range(5))
        assert found.probability_higher_at_0 == pytest.approx(4.5 / 6)

    @given(graded)
    def test_alone_it_is_the_test_of_mann_and_whitney(self, rows: list[tuple[int, float, int]]) -> None:
        outcomes, measured = [row[0] for row in rows], [row[1] for row in rows]
        found = rank_association(outcomes, measured, range(len(rows)))
        ones = [value for one, value in zip(outcomes, measured, strict=True) if one]
        zeros = [value for one, value in zip(outcomes, measured, strict=True) if not one]
        if not ones or not zeros:
            assert found == (None, None, "none")
        elif len(set(measured)) == 1:
            assert found == (0.5, 1.0, "none")
        else:
            expected = scipy_stats.mannwhitneyu(zeros, ones, method="asymptotic")
            assert found.p_value == pytest.approx(expected.pvalue)
            assert found.probability_higher_at_0 == pytest.approx(expected.statistic / len(ones) / len(zeros))

    @given(graded, st.randoms(use_true_random=False))
    def test_order_and_a_stretched_clock_do_not_matter(
        self, rows: list[tuple[int, float, int]], random: Random
    ) -> None:
        mixed = random.sample(rows, len(rows))
        one = rank_association([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
        other = rank_association(
            [row[0] for row in mixed], [10 + row[1] ** 2 for row in mixed], [-row[2] for row in mixed]
        )
        assert other.test == one.test
        for after, before in zip(other[:2], one[:2], strict=True):
            assert after is before is None or after == pytest.approx(before, abs=1e-9)

    def test_a_strong_association_is_found_among_clusters(self) -> None:
        generator = np.random.default_rng(1)
        samples = np.repeat(np.arange(60), 3)
        slow = generator.normal(0, 1, 60)[samples] + generator.normal(0, 0.3, 180)
        right = (generator.random(180) < 1 / (1 + np.exp(slow * 2))).astype(float)
        found = rank_association(right, slow, samples)
        assert found.test == "clustered-rank"
        assert found.p_value is not None
        assert found.p_value < 1e-4
        assert found.probability_higher_at_0 is not None
        assert found.probability_higher_at_0 > 0.7

    def test_it_gives_no_more_false_alarms_than_its_level_where_repeats_are_alike(self) -> None:
        alarms, naive = [], []
        generator = np.random.default_rng(20240611)
        samples = np.repeat(np.arange(50), 4)
        for _ in range(RUNS):
            right = (generator.random(200) < generator.beta(0.7, 0.7, 50)[samples]).astype(float)
            slow = generator.normal(0, 1, 50)[samples] + generator.normal(0, 0.3, 200)
            alarms.append((rank_association(right, slow, samples).p_value or 0) < 0.05)
            naive.append((rank_association(right, slow, range(200)).p_value or 0) < 0.05)
        assert np.mean(alarms) <= 0.05 + MONTE_CARLO
        assert np.mean(naive) > 0.15

    def test_a_single_group_has_no_test(self) -> None:
        found = rank_association([1, 0, 1], [1, 2, 3], ["g", "g", "g"])
        assert (found.p_value, found.test) == (None, "none")

    def test_other_outcomes_are_refused(self) -> None:
        with pytest.raises(ValueError, match="0 or 1"):
            rank_association([0, 0.5], [1, 2], range(2))


class TestWithinSamples:
    def test_samples_counted_by_hand(self) -> None:
        # a: the wrong one is slower; b: the wrong one is faster; c: slower than one, faster than none; d: always right
        outcomes = [1, 0, 0, 1, 1, 0, 1, 1, 1]
        measured = [1, 2, 1, 2, 1, 3, 2, 1, 9]
        samples = ["a", "a", "b", "b", "c", "c", "c", "d", "d"]
        found = within_sample_association(outcomes, measured, samples, samples)
        assert found is not None
        assert (found.n_samples, found.higher, found.lower, found.ties) == (3, 2, 1, 0)
        assert found.p_value == pytest.approx(0.625)  # P(0) + P(1) / 2, twice: 2 (1/8 + 3/16)

    def test_samples_of_a_group_count_once(self) -> None:
        outcomes, measured = [1, 0] * 4, [1, 2] * 4
        samples = [0, 0, 1, 1, 2, 2, 3, 3]
        found = within_sample_association(outcomes, measured, samples, ["g"] * 4 + ["h"] * 4)
        assert found is not None
        assert (found.n_samples, found.higher) == (4, 2)
        assert found.p_value == pytest.approx(0.25)

    def test_without_a_sample_of_both_there_is_nothing(self) -> None:
        assert within_sample_association([1, 1, 0], [1, 2, 3], [0, 0, 1], [0, 0, 1]) is None

    def test_hard_questions_that_take_long_are_no_false_alarm(self) -> None:
        """What goes with the question only is seen between samples, and not within them."""
        generator = np.random.default_rng(3)
        samples = np.repeat(np.arange(60), 4)
        alarms = []
        for _ in range(400):
            hard = generator.normal(0, 1, 60)[samples]
            right = (generator.random(240) < 1 / (1 + np.exp(2 * hard))).astype(float)
            slow = hard + generator.normal(0, 0.3, 240)
            found = within_sample_association(right, slow, samples, samples)
            alarms.append(found is not None and (found.p_value or 0) < 0.05)
            assert (rank_association(right, slow, samples).p_value or 0) < 0.05
        assert np.mean(alarms) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 400)
