from __future__ import annotations

import math
import time
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from tests.known import known

from benchwright.stats.intervals import equal_values_interval, wilson_interval
from benchwright.stats.score_means import MeanEstimate, estimate_mean, sample_means


def width(estimated: MeanEstimate) -> float:
    low, high = known(estimated.interval)
    return high - low


scores = st.floats(-10, 10).map(lambda value: round(value, 3))
trials = st.lists(st.tuples(scores, st.integers(0, 6)), min_size=2, max_size=40)
outcomes = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.integers(0, 6)), min_size=2, max_size=40)


def columns(rows: list[tuple[float, int]]) -> tuple[list[float], list[int]]:
    return [value for value, _ in rows], [sample for _, sample in rows]


@given(st.lists(st.sampled_from([0, 1]), min_size=1, max_size=60))
def test_single_0_1_scores_get_wilson(values: list[int]) -> None:
    result = estimate_mean(values)
    assert result.method == "wilson"
    assert result.interval == pytest.approx(wilson_interval(sum(values), len(values)))
    assert result.mean == pytest.approx(sum(values) / len(values))


@given(st.lists(scores, min_size=2, max_size=30).filter(lambda values: len(set(values)) > 1))
def test_single_graded_scores_get_t(values: list[float]) -> None:
    result = estimate_mean(values, binary=False)
    assert result.method == "t"
    expected = scipy_stats.t.interval(0.95, len(values) - 1, np.mean(values), scipy_stats.sem(values))
    assert result.interval == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(trials)
def test_repeats_are_averaged_per_sample_first(rows: list[tuple[float, int]]) -> None:
    values, samples = columns(rows)
    means = [np.mean([v for v, s in rows if s == sample]) for sample in set(samples)]
    result = estimate_mean(values, samples, binary=False)
    assert result.mean == pytest.approx(np.mean(means), abs=1e-9)
    assert (result.n_samples, result.n_values) == (len(means), len(values))
    if len(means) > 1:
        assert result.se == pytest.approx(np.std(means, ddof=1) / math.sqrt(len(means)), abs=1e-7)


@given(trials, st.randoms(use_true_random=False))
def test_order_and_names_of_samples_do_not_matter(rows: list[tuple[float, int]], random: Random) -> None:
    values, samples = columns(rows)
    shuffled_values, shuffled = columns(random.sample(rows, len(rows)))
    one = estimate_mean(values, samples, binary=False)
    other = estimate_mean(shuffled_values, [f"sample {-sample}" for sample in shuffled], binary=False)
    assert other.method == one.method
    assert other.mean == pytest.approx(one.mean, abs=1e-9)
    assert (other.interval is None) == (one.interval is None)
    if one.interval is not None:
        assert other.interval == pytest.approx(one.interval, rel=1e-6, abs=1e-6)


@given(outcomes)
def test_a_rate_stays_between_0_and_1(rows: list[tuple[float, int]]) -> None:
    result = estimate_mean(*columns(rows))
    if result.interval is not None:
        assert 0 <= result.interval.low <= result.mean <= result.interval.high <= 1


@given(outcomes)
def test_failures_mirror_successes(rows: list[tuple[float, int]]) -> None:
    values, samples = columns(rows)
    one, other = estimate_mean(values, samples), estimate_mean([1 - value for value in values], samples)
    assert other.mean == pytest.approx(1 - one.mean)
    if one.interval is not None:
        assert other.interval == pytest.approx((1 - one.interval.high, 1 - one.interval.low), abs=1e-9)


def test_copying_a_sample_s_trial_adds_nothing_but_repeats() -> None:
    """Three identical repeats tell as much as one (less the uncertainty of an estimated error)."""
    values = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    once, thrice = estimate_mean(values), estimate_mean(np.repeat(values, 3), np.repeat(range(12), 3))
    assert thrice.mean == once.mean
    assert thrice.se == pytest.approx(once.se)
    assert thrice.within == 0
    assert width(thrice) > width(once)


def test_independent_repeats_narrow_the_interval() -> None:
    samples = np.repeat(range(40), 8)
    values = np.random.default_rng(3).integers(0, 2, size=320).astype(float)
    assert width(estimate_mean(values, samples)) < 0.5 * width(estimate_mean(values[::8]))


def test_all_right_on_every_repeat_is_no_certainty() -> None:
    result = estimate_mean(np.ones(45), np.repeat(range(15), 3))
    low, high = known(result.interval)
    assert result.method == "wilson-effective-n"
    exact = scipy_stats.binomtest(15, 15).proportion_ci(0.99, method="exact")
    assert exact.low < low < wilson_interval(15, 15).low
    assert high == 1


def test_variance_splits_into_between_and_within() -> None:
    """The mean squares of a one-way analysis of variance, by hand."""
    values = [1.0, 3.0, 4.0, 8.0, 5.0, 9.0]
    result = estimate_mean(values, [0, 0, 1, 1, 2, 2])
    assert result.within == pytest.approx((2 + 8 + 8) / 3)
    assert result.between == pytest.approx(np.var([2, 6, 7], ddof=1) - known(result.within) / 2)
    assert known(result.se) ** 2 == pytest.approx(known(result.between) / 3 + known(result.within) / 6)


def test_the_split_finds_the_true_variances() -> None:
    generator = np.random.default_rng(5)
    counts = generator.integers(1, 8, size=4000)
    samples = np.repeat(np.arange(4000), counts)
    values = generator.normal(0, 2.0, size=4000)[samples] + generator.normal(0, 3.0, size=samples.size)
    result = estimate_mean(values, samples)
    assert result.between == pytest.approx(4, rel=0.1)
    assert result.within == pytest.approx(9, rel=0.05)


def test_noise_alone_gives_no_negative_variance_between_samples() -> None:
    result = estimate_mean([0.0, 1.0, 0.0, 1.0], [0, 0, 1, 1])
    assert result.between == 0


def test_without_repeats_there_is_no_split() -> None:
    result = estimate_mean([0.1, 0.5, 0.9])
    assert (result.between, result.within) == (None, None)


def test_groups_widen_the_interval_of_graded_scores() -> None:
    values = [0.1, 0.2, 0.15, 0.8, 0.9, 0.85, 0.4, 0.5, 0.45]
    groups = ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    alone, grouped = estimate_mean(values), estimate_mean(values, groups=groups)
    assert grouped.method == "cluster-t"
    assert (grouped.n_groups, alone.n_groups) == (3, None)
    assert grouped.mean == alone.mean
    assert known(grouped.interval).low < known(alone.interval).low
    assert grouped.design_effect == pytest.approx((known(grouped.se) / known(alone.se)) ** 2)
    assert 0.9 < known(grouped.icc) <= 1


def test_groups_are_told_per_value_and_counted_per_sample() -> None:
    values = [0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.5, 1.0]
    samples = [0, 0, 1, 1, 2, 2, 3, 3]
    groups = ["x", "x", "x", "x", None, None, None, None]
    by_value = estimate_mean(values, samples, groups)
    by_sample = estimate_mean([0.5, 1.0, 0.0, 0.75], groups=["x", "x", "y", "z"])
    assert by_value.se == pytest.approx(by_sample.se)
    assert by_value.interval == pytest.approx(by_sample.interval)


def test_groups_of_single_samples_change_nothing() -> None:
    values = [0.3, 0.9, 0.1, 0.6]
    assert estimate_mean(values, groups=["a", "b", "c", "d"]) == estimate_mean(values)
    assert estimate_mean(values, groups=[None] * 4) == estimate_mean(values)


def test_grouped_rates_get_wilson_with_fewer_samples() -> None:
    values = [1.0] * 19 + [0.0]
    grouped = estimate_mean(values, groups=np.repeat(range(5), 4))
    alone = estimate_mean(values)
    assert grouped.method == "wilson-effective-n"
    assert known(grouped.interval).low < known(alone.interval).low
    assert known(grouped.interval).high <= 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (([0.7],), "one sample"),
        (([0.7, 0.2], [1, 1]), "one sample, twice"),
        (([1.0, 0.0, 1.0], None, ["a", "a", "a"]), "one group"),
        (([0.5, 0.5, 0.5],), "graded values that are all equal and could be anything"),
    ],
)
def test_where_the_data_cannot_tell_there_is_no_interval(arguments: tuple[Any, ...], why: str) -> None:
    result = estimate_mean(*arguments)
    assert (result.method, result.interval) == ("none", None), why


def test_equal_graded_values_have_the_interval_that_their_range_allows() -> None:
    result = estimate_mean([0.5] * 60, value_range=(0.0, 1.0))
    assert (result.method, result.se) == ("bounded", 0)
    assert result.interval == equal_values_interval(0.5, 60, (0.0, 1.0))


def test_repeats_of_equal_values_add_nothing() -> None:
    once = estimate_mean([0.5] * 12, value_range=(0.0, 1.0))
    assert (
        estimate_mean([0.5] * 36, np.repeat(range(12), 3), value_range=(0.0, 1.0)).interval == once.interval
    )


def test_sample_means_that_are_equal_are_bounded_whatever_their_repeats_are() -> None:
    result = estimate_mean([0.2, 0.6, 0.6, 0.2], [0, 0, 1, 1], value_range=(0.0, 1.0))
    assert result.method == "bounded"
    assert result.interval == pytest.approx(equal_values_interval(0.4, 2, (0.0, 1.0)))


@pytest.mark.parametrize(("sizes", "effective"), [([5] * 4, 4), ([10, 5, 5], 20**2 / (100 + 25 + 25))])
def test_equal_values_in_groups_count_as_many_as_there_are_effective_groups(
    sizes: list[int], effective: float
) -> None:
    result = estimate_mean([0.5] * 20, groups=np.repeat(range(len(sizes)), sizes), value_range=(0.0, 1.0))
    assert result.method == "bounded"
    assert result.interval == pytest.approx(equal_values_interval(0.5, effective, (0.0, 1.0)))


def test_points_of_100_that_are_all_0_are_no_shares() -> None:
    """Taken for 0/1 scores, their interval would be a hundredth as wide as it has to be."""
    interval = known(estimate_mean([0.0] * 20, value_range=(0.0, 100.0)).interval)
    assert interval == pytest.approx((0, 100 * (1 - 0.025 ** (1 / 20))))


def test_a_single_0_1_score_has_wilson_s_wide_interval() -> None:
    assert estimate_mean([1.0]).interval == pytest.approx((0.2065, 1), abs=1e-4)


def test_confidence_widens_the_interval() -> None:
    values = [0.1, 0.4, 0.9, 0.6]
    narrow, wide = estimate_mean(values, confidence=0.8), estimate_mean(values, confidence=0.99)
    (low, high), (lowest, highest) = known(narrow.interval), known(wide.interval)
    assert lowest < low < high < highest
    assert wide.confidence == 0.99


def test_counts_that_happen_to_be_0_or_1_can_be_called_graded() -> None:
    assert estimate_mean([0.0, 1.0, 1.0], binary=False).method == "t"


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, "no values"),
        ([0.1, math.nan], {}, "number 1 is nan: leave it out"),
        ([None, 0.1], {}, "number 0 is nan"),
        ([0.1, 0.2], {"samples": [1]}, "equally many"),
        ([0.1, 0.2], {"groups": ["a"]}, "equally many"),
        ([0.1, 0.2], {"samples": [7, 7], "groups": ["a", "b"]}, "sample 7 is in two groups: 'a' and 'b'"),
        ([0.1, 0.2], {"binary": True}, "all be 0 or 1"),
        ([0.1, 0.2], {"confidence": 95}, "confidence"),
        ([[0.1], [0.2]], {}, "one-dimensional"),
    ],
)
def test_what_is_refused(values: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_mean(values, **options)


def test_sample_means_keep_the_order_of_first_appearance() -> None:
    result = sample_means([1.0, 4.0, 3.0, 5.0], ["b", "a", "b", "c"])
    assert result.samples == ["b", "a", "c"]
    assert result.means.tolist() == [2.0, 4.0, 5.0]
    assert result.counts.tolist() == [2, 1, 1]
    assert result.variance_within_samples == pytest.approx(2.0)


def test_t_is_scipy_s() -> None:
    values = np.random.default_rng(2).random(25)
    expected = scipy_stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert estimate_mean(values, confidence=0.9).interval == pytest.approx((expected.low, expected.high))


def test_an_estimate_survives_json() -> None:
    result = estimate_mean([1.0, 0.0, 1.0, 1.0], [0, 0, 1, 1])
    assert msgspec.json.decode(msgspec.json.encode(result), type=MeanEstimate) == result


def test_a_million_values_take_seconds_at_most() -> None:
    """About 0.4 s here; the limit only catches a loop over values turned quadratic."""
    values = np.random.default_rng(1).random(1_000_000)
    samples = [f"sample {number // 4}" for number in range(1_000_000)]
    groups = [f"group {number // 400}" for number in range(1_000_000)]
    start = time.process_time()
    result = estimate_mean(values, samples, groups)
    assert time.process_time() - start < 10
    assert result.n_samples == 250_000
    assert result.mean == pytest.approx(0.5, abs=0.01)
