"""How often a comparison is right, by simulation: power as theory has it, false alarms at most at the level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from benchwright.analysis.comparison.figures import compute_difference, one_sided_bound, verdict_of
from benchwright.analysis.comparison.latency import quantile_difference_interval
from benchwright.analysis.comparison.pairing import Alignment
from benchwright.analysis.comparison.sides import SideScoreColumn
from benchwright.stats.percentiles import percentile_interval

pytestmark = pytest.mark.slow

RUNS = 1500


def column(values: np.ndarray) -> SideScoreColumn:
    return SideScoreColumn(values.astype(np.float64), np.zeros(values.size, np.uint8))


def aligned(samples: int, per_group: int | None = None, repeats: int = 1) -> Alignment:
    codes = np.repeat(np.arange(samples), repeats)
    groups: list[int | None] | None = None
    if per_group is not None:
        groups = [number // per_group for number in range(samples)]
    return Alignment(codes, codes, samples, "by sample", groups, None)


def monte_carlo(rate: float, runs: int = RUNS) -> float:
    """Four standard errors of a simulated rate."""
    return 4 * math.sqrt(rate * (1 - rate) / runs)


def found(alignment: Alignment, a: np.ndarray, b: np.ndarray) -> str:
    one = compute_difference(alignment, column(a), column(b), "usual", 0.95)
    assert one is not None
    return verdict_of(one.difference, one.p_value, 0.05)


def outcomes(
    generator: np.random.Generator, n: int, wins: float, losses: float
) -> tuple[np.ndarray, np.ndarray]:
    """0/1 outcomes of A and B over n samples; B wins and loses these shares of them."""
    kind = generator.random(n)
    both = generator.random(n) < 0.6
    win, loss = kind < wins, (kind >= wins) & (kind < wins + losses)
    return np.where(win, 0, np.where(loss, 1, both)), np.where(win, 1, np.where(loss, 0, both))


def test_three_points_on_a_thousand_samples_are_told_apart_as_often_as_theory_says() -> None:
    generator = np.random.default_rng(1)
    wins, losses, n = 0.075, 0.045, 1000
    verdicts = [found(aligned(n), *outcomes(generator, n, wins, losses)) for _ in range(RUNS)]
    se = math.sqrt((wins + losses - (wins - losses) ** 2) / n)
    theory = scipy_stats.norm.sf(1.95996 - (wins - losses) / se)
    assert verdicts.count("better") / RUNS == pytest.approx(theory, abs=monte_carlo(theory) + 0.01)
    assert verdicts.count("worse") / RUNS < 0.002


def test_the_effect_that_could_have_shown_shows_in_four_of_five_runs() -> None:
    generator = np.random.default_rng(2)
    n, spread = 400, 0.3
    detectable = (1.95996 + 0.84162) * spread / math.sqrt(n)
    verdicts = []
    for _ in range(RUNS):
        a = generator.normal(0.5, 0.2, n)
        verdicts.append(found(aligned(n), a, a + generator.normal(detectable, spread, n)))
    assert verdicts.count("better") / RUNS == pytest.approx(0.8, abs=monte_carlo(0.8))


@pytest.mark.parametrize("discordant", [0.02, 0.12, 0.5])
def test_two_equal_runs_differ_no_more_often_than_the_level(discordant: float) -> None:
    generator = np.random.default_rng(3)
    verdicts = [
        found(aligned(300), *outcomes(generator, 300, discordant / 2, discordant / 2)) for _ in range(RUNS)
    ]
    assert 1 - verdicts.count("no difference found") / RUNS <= 0.05 + monte_carlo(0.05)


def test_so_do_runs_over_samples_that_come_in_groups() -> None:
    """Each run is good or bad at whole groups, by chance: taken for independent, samples would cry wolf."""
    generator = np.random.default_rng(4)
    groups, size = 40, 10
    grouped, independent = 0, 0
    for _ in range(RUNS):
        rates = np.repeat(generator.beta(1, 1, (2, groups)), size, axis=1)
        a, b = generator.random(rates.shape) < rates
        grouped += found(aligned(groups * size, size), a, b) != "no difference found"
        independent += found(aligned(groups * size), a, b) != "no difference found"
    assert grouped / RUNS <= 0.05 + monte_carlo(0.05)
    assert independent / RUNS > 0.2


def test_repeats_are_no_further_samples() -> None:
    generator = np.random.default_rng(5)
    alarms = 0
    for _ in range(RUNS):
        rates = np.repeat(generator.beta(1, 1, (2, 60)), 8, axis=1)
        a, b = generator.random(rates.shape) < rates
        alarms += found(aligned(60, repeats=8), a, b) != "no difference found"
    assert alarms / RUNS <= 0.05 + monte_carlo(0.05)


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_the_gate_stops_a_run_that_lost_no_more_than_the_margin_at_its_level_at_most(margin: float) -> None:
    generator = np.random.default_rng(6)
    stopped = 0
    for _ in range(RUNS):
        a, b = outcomes(generator, 500, 0.06, 0.06 + margin)
        _, high, _ = one_sided_bound(aligned(500), column(a), column(b), 0.95, lower=False)
        assert high is not None
        stopped += high < -margin
    assert stopped / RUNS <= 0.05 + monte_carlo(0.05)


def test_the_gate_over_groups_too() -> None:
    generator = np.random.default_rng(7)
    stopped = 0
    for _ in range(RUNS):
        rates = np.repeat(generator.beta(1, 1, (2, 40)), 10, axis=1)
        a, b = generator.random(rates.shape) < rates
        _, high, _ = one_sided_bound(aligned(400, 10), column(a), column(b), 0.95, lower=False)
        assert high is not None
        stopped += high < 0
    assert stopped / RUNS <= 0.05 + monte_carlo(0.05)


@given(st.lists(st.floats(0, 9), min_size=8, max_size=60), st.floats(0, 9))
def test_against_a_constant_it_is_the_interval_of_the_other_side(
    values: list[float], constant: float
) -> None:
    times, still = np.array(values), np.full(100, constant)
    low, high = percentile_interval(times, 0.5)
    assert quantile_difference_interval(still, times, 0.5, 0.95) == pytest.approx(
        (low - constant, high - constant)
    )
    assert quantile_difference_interval(times, still, 0.5, 0.95) == pytest.approx(
        (constant - high, constant - low)
    )


@pytest.mark.parametrize("q", [0.5, 0.95])
def test_intervals_of_differences_of_percentiles_cover(q: float) -> None:
    generator = np.random.default_rng(8)
    truth = scipy_stats.lognorm.ppf(q, 0.5) * (1.3 - 1.0)
    covered = 0
    for _ in range(RUNS):
        a, b = generator.lognormal(0, 0.5, 400), 1.3 * generator.lognormal(0, 0.5, 300)
        low, high = quantile_difference_interval(a, b, q, 0.95)
        covered += low <= truth <= high
    assert covered / RUNS >= 0.95 - monte_carlo(0.95)
