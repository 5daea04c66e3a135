"""Verdicts that may be looked for after every unit: what they promise holds, and what they save is real.

Simulations are seeded. A share of false alarms may exceed the error by two Monte-Carlo errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from benchwright.stats.sequential.betting import BettingProcess
from benchwright.stats.sequential.confidence_sequence import ConfidenceSequence

Numbers = NDArray[np.float64]
SEQUENCES = 2000
ERROR = 0.05
ALLOWED = ERROR + 2 * math.sqrt(ERROR * (1 - ERROR) / SEQUENCES)
Make = Callable[[np.random.Generator], Numbers]


def watched(
    values: Numbers,
    truth: float,
    *,
    weights: Numbers | None = None,
    bounds: tuple[float, float] = (-1.0, 1.0),
    finite: bool = False,
) -> NDArray[np.bool_]:
    """Whether the interval of each column of the values (n, sequences) ever missed the truth, seen after every unit."""
    n, sequences = values.shape
    running = ConfidenceSequence(
        n, bounds=bounds, finite=finite, thresholds=(truth,), claims=1, shape=(sequences,)
    )
    missed = np.zeros(sequences, dtype=bool)
    for place in range(n):
        running.add(values[place], weight=1.0 if weights is None else weights[place])
        missed |= (running.low > truth) | (running.high < truth)
    return missed


def pairs(n: int, discordant: float, difference: float = 0.0) -> Make:
    """Differences of 0/1 pairs (n, sequences): so many differ, by this much on average."""
    shares = [(discordant - difference) / 2, 1 - discordant, (discordant + difference) / 2]

    def make(generator: np.random.Generator) -> Numbers:
        return np.asarray(generator.choice([-1.0, 0.0, 1.0], (n, SEQUENCES), p=shares))

    return make


def rates(n: int, rate: float) -> Make:
    """Both models have the same rate, independently of one another."""

    def make(generator: np.random.Generator) -> Numbers:
        first, second = generator.random((2, n, SEQUENCES)) < rate
        return np.asarray(first.astype(float) - second)

    return make


def graded(n: int, spread: float) -> Make:
    """Scores from 0 to 1 with a common difficulty and skewed errors."""

    def make(generator: np.random.Generator) -> Numbers:
        first, second = generator.beta(spread, 2 * spread, (2, n, SEQUENCES))
        return np.asarray(first - second)

    return make


def repeated(n: int, repeats: int) -> Make:
    """Each sample has a rate of its own for either model: the mean difference of its repeats is the unit."""

    def make(generator: np.random.Generator) -> Numbers:
        own = generator.beta(0.5, 0.5, (2, n, SEQUENCES))
        means = generator.binomial(repeats, own) / repeats
        return np.asarray(means[0] - means[1])

    return make


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(pairs(250, 0.02), id="0/1, 2 % differ"),
        pytest.param(pairs(250, 0.2), id="0/1, 20 % differ"),
        pytest.param(pairs(250, 1.0), id="0/1, all differ"),
        pytest.param(rates(200, 0.05), id="0/1, rate 5 %"),
        pytest.param(rates(200, 0.5), id="0/1, rate 50 %"),
        pytest.param(rates(200, 0.95), id="0/1, rate 95 %"),
        pytest.param(graded(200, 0.3), id="graded, near 0 and 1"),
        pytest.param(graded(200, 5.0), id="graded, narrow"),
        pytest.param(repeated(150, 4), id="four repeats"),
    ],
)
@pytest.mark.parametrize("finite", [False, True], ids=["new questions", "whole benchmark"])
def test_no_difference_is_found_where_there_is_none(make: Make, finite: bool) -> None:
    values = make(np.random.default_rng(18))
    if finite:
        half = values[: len(values) // 2]
        values = np.random.default_rng(19).permuted(np.concatenate([half, -half]), axis=0)
    assert watched(values, 0.0, finite=finite).mean() <= ALLOWED


@pytest.mark.parametrize("difference", [-0.4, 0.05, 0.3])
@pytest.mark.parametrize("finite", [False, True], ids=["new questions", "whole benchmark"])
def test_the_interval_holds_the_difference_at_all_moments(difference: float, finite: bool) -> None:
    if finite:
        n, wins = 240, round(240 * (0.5 + difference) / 2)
        column = np.repeat([1.0, -1.0, 0.0], [wins, 120 - wins, 120])
        values = np.random.default_rng(4).permuted(np.tile(column[:, None], SEQUENCES), axis=0)
        difference = float(column.mean())
        assert len(column) == n
    else:
        values = pairs(250, 0.5, difference)(np.random.default_rng(4))
    assert watched(values, difference, finite=finite).mean() <= ALLOWED


def unequal_groups(generator: np.random.Generator, n: int, added: float) -> tuple[Numbers, Numbers]:
    """Mean differences and sizes of groups (n, sequences): the large ones are better, the small ones worse."""
    sizes = generator.choice([1.0, 5.0, 20.0], (n, SEQUENCES), p=[0.6, 0.3, 0.1])
    effect = added + np.select([sizes == 1, sizes == 5], [-0.2, 0.0], 0.06)
    means = np.clip(effect + generator.choice([-0.5, 0.5], sizes.shape), -1, 1)
    return means, sizes


def test_weighted_groups_hold_the_mean_over_samples() -> None:
    """Over samples, 0.6 * 1 * -0.2 + 0.1 * 20 * 0.06 = 0 (and 0.3 more); over groups it is not."""
    means, sizes = unequal_groups(np.random.default_rng(5), 200, added=0.3)
    assert watched(means, 0.3, weights=sizes / 20).mean() <= ALLOWED
    assert watched(means, 0.3).mean() > 0.5


def test_groups_of_a_finite_list_hold_the_mean_over_its_samples() -> None:
    means, sizes = unequal_groups(np.random.default_rng(6), 100, added=0.0)
    means, sizes = np.concatenate([means, -means]), np.concatenate([sizes, sizes])
    order = np.argsort(np.random.default_rng(7).random(means.shape), axis=0)
    values = np.take_along_axis(means * sizes, order, axis=0) / sizes.mean(axis=0)
    most = 20 / float(sizes.mean(axis=0).min())
    assert watched(values, 0.0, bounds=(-most, most), finite=True).mean() <= ALLOWED


def test_samples_of_a_group_are_no_units() -> None:
    """Twenty alike answers in a row are one piece of news: taken for twenty, they alarm far too often."""
    groups = np.random.default_rng(8).choice([-1.0, 1.0], (30, SEQUENCES))
    assert watched(np.repeat(groups, 20, axis=0), 0.0).mean() > 0.5


def test_peeking_at_a_fixed_test_alarms_four_times_too_often() -> None:
    """A z test at 5 %, looked at after every pair from the 30th to the 400th."""
    values = pairs(400, 0.5)(np.random.default_rng(9))
    z = np.abs(np.cumsum(values, axis=0)) / np.sqrt(np.maximum(np.cumsum(values**2, axis=0), 1))
    assert 0.2 < (z[29:] > 1.96).any(axis=0).mean() < 0.35


@pytest.mark.parametrize(
    ("difference", "share", "used"), [(0.1, 0.8, 0.75), (0.15, 0.99, 0.5), (0.3, 1.0, 0.2)]
)
def test_large_differences_are_found_with_few_units(difference: float, share: float, used: float) -> None:
    """McNemar's test of all 735 pairs finds 0.1 of 0.5 discordant with 97 %."""
    values = pairs(735, 0.5, difference)(np.random.default_rng(10))[:, :400]
    running = ConfidenceSequence(735, claims=1, shape=(400,))
    at = np.full(400, np.inf)
    for place, row in enumerate(values, start=1):
        running.add(row)
        at[(running.low > 0) & np.isinf(at)] = place
    assert np.isfinite(at).mean() >= share
    assert np.minimum(at, 735).mean() / 735 <= used


def test_a_finite_list_is_decided_when_all_have_come() -> None:
    values = np.random.default_rng(11).permutation(np.repeat([1.0, -1.0, 0.0], [31, 30, 139]))
    running = ConfidenceSequence(200, finite=True)
    for value in values:
        running.add(value)
    assert float(running.low) == pytest.approx(1 / 200)
    assert float(running.high) == pytest.approx(1 / 200)
    assert running.low > 0


def test_what_would_change_nothing_any_more_is_known() -> None:
    """After three wins of four, the last one cannot bring the mean below one half."""
    running = ConfidenceSequence(4, finite=True)
    for _ in range(3):
        running.add(1.0)
    assert float(running.low) == pytest.approx(0.5)


def test_the_interval_never_widens_and_keeps_the_last_if_nothing_is_left() -> None:
    running, ends = ConfidenceSequence(2000), []
    for value in [1.0] * 300 + [-1.0] * 1700:
        running.add(value)
        ends.append((float(running.low), float(running.high)))
    lows, highs = np.array(ends).T
    assert (np.diff(lows) >= 0).all()
    assert (np.diff(highs) <= 0).all()
    assert (lows <= highs).all()


def test_more_claims_narrow_the_interval_but_a_little() -> None:
    values = pairs(735, 0.3, 0.07)(np.random.default_rng(12))[:, 0]
    widths = []
    for claims in (401, 4001):
        running = ConfidenceSequence(735, claims=claims)
        for value in values:
            running.add(value)
        widths.append(float(running.high - running.low))
    assert widths[1] <= widths[0] <= widths[1] + 1e-3


GRADED = [1, 0, 0, -1, 1, 1, 0, 0.5, -0.25, 1, 0, 0, 0.75, 1, -1, 0, 1, 0, 0, 1]


@pytest.mark.parametrize(
    ("finite", "after_1", "after_10", "after_20"),
    [
        (False, 0.5537358853153357, -0.4935741502944649, -1.2165613819048209),
        (True, 0.5537358853153357, -0.2904522427683881, -0.06002604942865436),
    ],
)
def test_the_capital_is_that_of_the_authors_program(
    finite: bool, after_1: float, after_10: float, after_20: float
) -> None:
    """Against the claim that the mean is 0.1, 40 planned.

    The figures are logarithms of `betting_mart` of the package confseq by Waudby-Smith and others, for values and
    claim moved to [0, 1], with `N=40` if finite, `theta=1`, `trunc_scale=1`, and one call for each bet k of
    `BettingProcess` (`lambdas_fn_positive` returns 2 k / (1 + k mu)), weighted by the bets' shares.
    """
    capital = BettingProcess(np.array([0.1]), 40, finite=finite)
    logarithms = []
    for value in GRADED:
        capital.add(value)
        logarithms.append(float(capital.log_capital[0]))
    assert [logarithms[0], logarithms[9], logarithms[19]] == pytest.approx([after_1, after_10, after_20])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ConfidenceSequence(0), "no such sequence"),
        (lambda: ConfidenceSequence(9, side_error=1.0), "no such sequence"),
        (lambda: ConfidenceSequence(9, bounds=(1.0, 1.0)), "no such sequence"),
        (lambda: ConfidenceSequence(9, thresholds=(2.0,)), "not all within the bounds"),
        (lambda: ConfidenceSequence(9).add(1.5), "not within the bounds"),
        (lambda: ConfidenceSequence(9).add(0.5, weight=2.0), "between 0 and 1"),
        (lambda: ConfidenceSequence(9, finite=True).add(0.5, weight=0.5), "no weights"),
        (lambda: ConfidenceSequence(9).add(0.5, expected=0.1), "within `reach`"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
