"""Do the intervals hold what they promise? Seeded simulations of data whose truth is known.

Each compares the share of simulated data sets whose 95 % interval holds the truth with what is claimed.
The Monte-Carlo error of such a share is sqrt(0.95 * 0.05 / RUNS) = 0.5 points; four of them are allowed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from tests.known import known

from benchwright.stats.distributions import t_quantile
from benchwright.stats.intervals import Interval, equal_values_interval, wilson_interval
from benchwright.stats.paired_tests import paired_difference
from benchwright.stats.passk import mean_pass_at_k
from benchwright.stats.percentiles import percentile_interval
from benchwright.stats.power import minimum_detectable_effect
from benchwright.stats.score_means import estimate_mean

pytestmark = pytest.mark.slow

RUNS = 2000
MONTE_CARLO = 4 * math.sqrt(0.95 * 0.05 / RUNS)

Data = tuple[np.ndarray, ...]


def simulated(make: Callable[[np.random.Generator], Data], runs: int = RUNS) -> Iterator[Data]:
    generator = np.random.default_rng(20240611)
    return (make(generator) for _ in range(runs))


def coverage(intervals: Iterator[Interval | None], truth: float) -> float:
    """The share of intervals that hold the truth; one that is missing holds nothing."""
    return float(np.mean([each is not None and each.low <= truth <= each.high for each in intervals]))


def clustered_scores(sizes: list[int], icc: float) -> Callable[[np.random.Generator], Data]:
    """Normal scores of mean 0 and variance 1 in groups of the given sizes."""
    groups = np.repeat(range(len(sizes)), sizes)

    def make(generator: np.random.Generator) -> Data:
        shared = generator.normal(0, math.sqrt(icc), len(sizes))[groups]
        return shared + generator.normal(0, math.sqrt(1 - icc), groups.size), groups

    return make


def repeated_outcomes(
    n: int, repeats: int, rate: float, alike: float
) -> Callable[[np.random.Generator], Data]:
    """0/1 outcomes of n samples whose own rates are beta distributed around `rate`; `alike` is a + b."""
    samples = np.repeat(range(n), repeats)

    def make(generator: np.random.Generator) -> Data:
        own = generator.beta(rate * alike, (1 - rate) * alike, n)[samples]
        return (generator.random(samples.size) < own).astype(float), samples

    return make


EQUAL, UNEQUAL = [6] * 8, [30, 12, 6, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1]


def test_t_covers_normal_means_exactly() -> None:
    data = simulated(lambda generator: (generator.normal(3.0, 2.0, 6),))
    assert coverage((estimate_mean(values).interval for (values,) in data), 3.0) == pytest.approx(
        0.95, abs=MONTE_CARLO
    )


def test_cluster_robust_t_covers_with_eight_groups() -> None:
    data = simulated(clustered_scores(EQUAL, icc=0.4))
    intervals = (estimate_mean(values, groups=groups).interval for values, groups in data)
    assert coverage(intervals, 0.0) == pytest.approx(0.95, abs=MONTE_CARLO)


def test_ignoring_groups_covers_far_too_little() -> None:
    data = simulated(clustered_scores(EQUAL, icc=0.4))
    assert coverage((estimate_mean(values).interval for values, _ in data), 0.0) < 0.80


def test_unequal_groups_need_the_effective_degrees_of_freedom() -> None:
    """With C - 1 degrees of freedom, the usual choice, the same errors cover clearly less."""
    results = [
        estimate_mean(values, groups=groups) for values, groups in simulated(clustered_scores(UNEQUAL, 0.3))
    ]
    usual = t_quantile(0.975, len(UNEQUAL) - 1)
    widths = [usual * known(each.se) for each in results]
    as_usual = [
        Interval(each.mean - half, each.mean + half) for each, half in zip(results, widths, strict=True)
    ]
    ours = coverage((each.interval for each in results), 0.0)
    assert ours >= 0.92
    assert coverage(iter(as_usual), 0.0) < ours - 0.03


@pytest.mark.parametrize(
    ("n", "repeats", "rate", "alike"),
    [(15, 2, 0.95, 1.0), (15, 4, 0.95, 20.0), (8, 4, 0.9, 1.0), (50, 5, 0.9, 4.0), (100, 3, 0.5, 1.0)],
)
def test_repeated_rates_are_covered(n: int, repeats: int, rate: float, alike: float) -> None:
    data = simulated(repeated_outcomes(n, repeats, rate, alike))
    assert coverage((estimate_mean(*each).interval for each in data), rate) >= 0.95 - MONTE_CARLO


def test_t_does_not_cover_repeated_rates() -> None:
    """Why rates keep Wilson's form when they are repeated."""
    data = simulated(repeated_outcomes(15, 2, 0.95, 1.0))
    assert coverage((estimate_mean(*each, binary=False).interval for each in data), 0.95) < 0.75


def test_repeats_taken_for_samples_cover_far_too_little() -> None:
    data = simulated(repeated_outcomes(30, 8, 0.7, 1.0))
    as_samples = (wilson_interval(values.sum(), values.size) for values, _ in data)
    assert coverage(as_samples, 0.7) < 0.75


@pytest.mark.parametrize(("n_groups", "size", "rate"), [(8, 6, 0.9), (15, 5, 0.95), (30, 5, 0.6)])
def test_grouped_rates_are_covered(n_groups: int, size: int, rate: float) -> None:
    """The outcomes of a group are like the repeats of a sample: one rate, drawn for it alone."""
    data = simulated(repeated_outcomes(n_groups, size, rate, alike=4.0))
    intervals = (estimate_mean(values, groups=groups).interval for values, groups in data)
    assert coverage(intervals, rate) >= 0.95 - MONTE_CARLO


def test_pass_at_k_is_covered() -> None:
    """With rates uniform in [0, 1], pass@3 is 1 - E[(1 - rate)^3] = 3/4 over all samples."""
    make = repeated_outcomes(40, 5, 0.5, alike=2.0)
    passes = (values.reshape(40, 5).sum(axis=1).astype(int).tolist() for values, _ in simulated(make))
    intervals = (mean_pass_at_k([5] * 40, each, 3).interval for each in passes)
    assert coverage(intervals, 0.75) >= 0.95 - MONTE_CARLO


def paired_scores(effect: float, n_groups: int, icc: float) -> Callable[[np.random.Generator], Data]:
    """Two sides of samples in groups of 5: shared difficulty, a true difference, and noise in groups."""

    def make(generator: np.random.Generator) -> Data:
        difficulty = generator.random(n_groups * 5)
        difference, groups = clustered_scores([5] * n_groups, icc)(generator)
        return difficulty + effect + 0.1 * difference, difficulty, groups

    return make


def test_paired_differences_are_covered() -> None:
    data = simulated(paired_scores(0.03, 12, icc=0.0))
    intervals = (paired_difference(a, b).interval for a, b, _ in data)
    assert coverage(intervals, 0.03) == pytest.approx(0.95, abs=MONTE_CARLO)


def test_paired_differences_in_groups_are_covered() -> None:
    data = simulated(paired_scores(0.03, 12, icc=0.5))
    intervals = (paired_difference(*each).interval for each in data)
    assert coverage(intervals, 0.03) == pytest.approx(0.95, abs=MONTE_CARLO)


def test_equal_sides_differ_in_one_of_twenty_runs_only_when_groups_are_told() -> None:
    data = list(simulated(paired_scores(0.0, 12, icc=0.5)))
    told = np.mean([known(paired_difference(*each).p_value) <= 0.05 for each in data])
    untold = np.mean([known(paired_difference(a, b).p_value) <= 0.05 for a, b, _ in data])
    assert told == pytest.approx(0.05, abs=MONTE_CARLO)
    assert untold > 0.2


def test_the_detectable_effect_is_found_four_times_of_five() -> None:
    """The promise of `minimum_detectable_effect`, to the error of its normal approximation (2 points)."""
    effect = minimum_detectable_effect(0.1, 300)
    found = [
        known(paired_difference(a, b).p_value) <= 0.05
        for a, b, _ in simulated(paired_scores(effect, 60, icc=0.0))
    ]
    assert np.mean(found) == pytest.approx(0.80, abs=0.02 + 4 * math.sqrt(0.8 * 0.2 / RUNS))


def test_percentiles_of_skewed_durations_are_covered() -> None:
    """Order statistics come in steps, so that the interval covers a little more than it says."""
    data = simulated(lambda generator: (generator.lognormal(size=300),))
    intervals = (percentile_interval(values, 0.9) for (values,) in data)
    covered = coverage(intervals, math.exp(1.2815515655446004))
    assert 0.95 - MONTE_CARLO <= covered <= 0.97 + MONTE_CARLO


def mostly_equal(n: int, rare: float) -> Callable[[np.random.Generator], Data]:
    """Scores of 0.5, of which all n are equal in about half of the data sets; the rare others are `rare`."""

    def make(generator: np.random.Generator) -> Data:
        return (np.where(generator.random(n) < 1 - 0.5 ** (1 / n), rare, 0.5),)

    return make


@pytest.mark.parametrize("n", [5, 20, 60, 200])
@pytest.mark.parametrize("rare", [0.0, 0.4, 1.0])
def test_scores_that_are_often_all_equal_are_covered(n: int, rare: float) -> None:
    """t has no interval for half of such data sets, so that it covers half of them."""
    truth = 0.5 + (1 - 0.5 ** (1 / n)) * (rare - 0.5)
    data = list(simulated(mostly_equal(n, rare)))
    in_range = (estimate_mean(values, value_range=(0.0, 1.0)).interval for (values,) in data)
    anywhere = (estimate_mean(values).interval for (values,) in data)
    assert coverage(in_range, truth) >= 0.95 - MONTE_CARLO
    assert coverage(anywhere, truth) < 0.55


@pytest.mark.parametrize("n", [5, 20, 60, 200])
@pytest.mark.parametrize("value", [0.0, 0.1, 0.5, 0.99])
def test_equal_scores_mislead_as_rarely_as_is_promised(n: int, value: float) -> None:
    """The worst case of all distributions: every other score at one end, so rare that the interval just misses them.

    The data sets of equal scores that mislead are then 2.5 % of all, on either side.
    """
    low, high = equal_values_interval(value, n, (0.0, 1.0))
    for end, missed in ((0.0, low), (1.0, high)):
        if end != value:
            share_of_others = (missed - value) / (end - value)
            assert (1 - share_of_others) ** n == pytest.approx(0.025)


@pytest.mark.parametrize("n", [5, 20, 60, 200])
def test_other_intervals_of_bounded_scores_are_wider_where_all_are_equal(n: int) -> None:
    """Each holds for every distribution in [0, 1], and takes less from the fact that nothing varies.

    Widths at 0.5: ours 0.52, 0.17, 0.06, 0.018; Anderson's 0.61, 0.30, 0.18, 0.10, with the Dvoretzky-Kiefer-Wolfowitz
    band in Massart's form; Hoeffding's twice that; Maurer and Pontil's 1, 1, 0.35, 0.10.
    """
    low, high = equal_values_interval(0.5, n, (0.0, 1.0))
    anderson = math.sqrt(math.log(2 / 0.05) / (2 * n))
    hoeffding = 2 * anderson
    maurer_and_pontil = 2 * 7 * math.log(2 / 0.025) / (3 * (n - 1))
    assert high - low < min(anderson, hoeffding, maurer_and_pontil)


def test_a_mean_of_three_runs_is_covered() -> None:
    data = simulated(lambda generator: (generator.normal(120.0, 8.0, 3),))
    intervals = (estimate_mean(values).interval for (values,) in data)
    assert coverage(intervals, 120.0) == pytest.approx(0.95, abs=MONTE_CARLO)
