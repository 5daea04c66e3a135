"""The noise floor, from repeats of one model."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.known import known

from benchwright.stats.noise_floor import estimate_noise, sample_size_plans
from benchwright.stats.paired_tests import paired_difference


def answers(n: int, repeats: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """0/1 answers to samples whose rates are spread over [0, 1]."""
    generator = np.random.default_rng(seed)
    rate = generator.beta(0.5, 0.5, n)
    return (generator.random((repeats, n)) < rate).astype(float).ravel(), np.tile(np.arange(n), repeats)


def test_flips_are_pairs_of_repeats_that_differ() -> None:
    found = known(estimate_noise([1, 1, 0, 1, 1, 0.5, 0.5, 1], [*"aaabbccd"]))
    assert found.flips == pytest.approx((2 / 3 + 0 + 0) / 3)
    assert (found.n_samples, found.n_values) == (3, 7)


def test_of_zero_and_one_flips_are_twice_the_variance_within() -> None:
    found = known(estimate_noise(*answers(300, 3, seed=1)))
    assert found.flips == pytest.approx(2 * found.within)


def test_without_repeats_there_is_nothing_to_know() -> None:
    assert estimate_noise([1.0, 0.0], ["a", "b"]) is None


def test_two_runs_of_one_model_lie_within_the_floor_in_95_percent() -> None:
    n, repeats, runs = 200, 3, 2000
    generator = np.random.default_rng(2)
    rate = generator.beta(0.5, 0.5, n)
    means = generator.binomial(repeats, rate, (2, runs, n)).mean(axis=2) / repeats
    values = (generator.random((repeats, n)) < rate).astype(float).ravel()
    found = known(estimate_noise(values, np.tile(np.arange(n), repeats)))
    within = np.abs(means[0] - means[1]) <= found.apart
    assert within.mean() == pytest.approx(0.95, abs=0.02)


def test_a_plan_has_the_power_it_promises() -> None:
    """Two models whose samples have the same rates but for 5 points: the noise is all that hides it."""
    generator = np.random.default_rng(3)
    rate = generator.uniform(0.1, 0.9, 20_000)
    values = (generator.random((4, rate.size)) < rate).astype(float).ravel()
    found = known(estimate_noise(values, np.tile(np.arange(rate.size), 4)))
    (plan,) = sample_size_plans(found, differences=[0.05], repeats=[4], correlation=1.0)
    seen = []
    for _ in range(300):
        drawn = generator.choice(rate, plan.samples)
        new, old = generator.binomial(4, drawn + 0.05) / 4, generator.binomial(4, drawn) / 4
        seen.append(known(paired_difference(new, old).p_value) <= 0.05)
    assert np.mean(seen) == pytest.approx(0.8, abs=3 * math.sqrt(0.16 / 300))


def test_more_repeats_and_larger_differences_need_fewer_samples() -> None:
    found = known(estimate_noise(*answers(300, 3, seed=4)))
    table = {(plan.difference, plan.repeats): plan.samples for plan in sample_size_plans(found)}
    assert table[0.01, 1] > table[0.01, 4] > table[0.05, 4]
    assert len(table) == 16


def test_a_plan_without_a_difference_is_refused() -> None:
    found = known(estimate_noise(*answers(30, 3, seed=5)))
    with pytest.raises(ValueError, match="no such plan"):
        sample_size_plans(found, differences=[0.0])
