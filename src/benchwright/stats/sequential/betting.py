"""Betting process: the capital of a player who bets that a mean is larger than claimed.

A player starts with capital 1. Before each unit (a random sample or cluster), the player bets that the unit's
value will be above the value that a claim lets one expect. If the claim is true, no way of betting makes the
capital grow on average, so the probability that it ever reaches 1 / error is at most error (Ville 1939). A
capital of 1 / error therefore refutes the claim, whenever one looks. For betting on the mean of bounded values
see Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", JRSS B 86:1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import Vector

FIRST_BET, SHARE_OF_NEXT = 4.0, 0.25
"""`FIRST_BET`: the smallest bet, in units of 1 / (sd sqrt(planned)).

Each further bet is twice as large as the one before. `SHARE_OF_NEXT`: the capital of each further bet, as a
share of the capital of the one before.
"""
MAX_BET = 0.9
"""Upper limit of a bet. A bet of 1 could lose the whole capital on one unit."""
SUPPOSED_VARIANCE, SUPPOSED_UNITS = 0.5, 4.0
"""Prior for the variance of the values: `SUPPOSED_VARIANCE` is its value, and it weighs as much as
`SUPPOSED_UNITS` units.
"""


class BettingProcess:
    """Capital bet against the claims "the mean is at most m", for each m of `means` (..., m), all in [-1, 1].

    Values (...) are in [-1, 1] and come as independent draws, or as a random permutation of a finite list. The
    leading axes are parallel sequences, of the shape `shape`. The claim about the next unit, given all units
    before it:

    - not `finite`: its mean is at most m. With weights w in [0, 1]: E[w (x - m)] <= 0, so m is E[w x] / E[w].
    - `finite`: m is the mean of a list of exactly `planned` units, drawn without replacement, so that the mean
      of the next unit is mu = (planned m - sum so far) / units left (Waudby-Smith and Ramdas, section 5). There
      are no weights.

    A bet k in [0, 1) multiplies the capital by (1 + k y) / (1 + k mu), with y = m + w (x - m), and mu = m
    unless `finite`. This factor falls with m, and its logarithm is convex in m, as k does not depend on m. A
    bet of c / (sd sqrt(planned)) is best after planned (2.7 / c)^2 units, so the capital is divided among c =
    4, 8, 16, ..., each with a quarter of the capital of the one before. This aims at a decision before half of
    the plan is done, with a reserve for large differences. sd is estimated from earlier units, so the bets
    depend on the past only.
    """

    def __init__(
        self, means: Vector, planned: int, *, finite: bool = False, shape: tuple[int, ...] = ()
    ) -> None:
        rounds = 2 + max(0, math.floor(math.log2(math.sqrt(planned) / FIRST_BET)))
        shares = SHARE_OF_NEXT ** np.arange(rounds)
        self._purses = np.broadcast_to(shares / shares.sum(), (*shape, means.shape[-1], rounds)).copy()
        self._scales = FIRST_BET * 2.0 ** np.arange(rounds) / math.sqrt(planned)
        self._means, self._planned, self._finite = means, planned, finite
        self._units = 0
        self._total = np.zeros(shape)
        self._moments = np.zeros((2, *shape))

    def add(self, value: ArrayLike, weight: ArrayLike = 1.0, expected: ArrayLike = 0.0) -> None:
        """Update the capital with the value of the next unit.

        `expected`: the predicted value of this unit minus the mean prediction for the remaining units. It is
        subtracted from the value.
        """
        value, weight = np.asarray(value, np.float64), np.asarray(weight, np.float64)[..., None]
        weighted = weight * (value - np.asarray(expected, np.float64))[..., None]
        worth = weighted + (1.0 - weight) * self._means
        bets, claimed = self._bets()[..., None, :], self._claimed()[..., None]
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            odds = 1 + bets * claimed
            grown = self._purses * (1 + bets * worth[..., None]) / odds
        self._purses = np.where(odds > 0, grown, np.inf)
        self._units += 1
        self._total = self._total + value
        self._moments = self._moments + np.stack([weighted[..., 0], weighted[..., 0] ** 2])

    @property
    def log_capital(self) -> Vector:
        """Logarithm of the capital against each claim (..., m)."""
        with np.errstate(over="ignore", divide="ignore"):
            return np.asarray(np.log(self._purses.sum(axis=-1)))

    def _bets(self) -> Vector:
        """Return the bets on the next unit (..., k). They depend on the variance of the units before it."""
        centred = self._moments[1] - self._moments[0] ** 2 / max(self._units, 1)
        variance = (centred + SUPPOSED_VARIANCE * SUPPOSED_UNITS) / (self._units + SUPPOSED_UNITS)
        return np.asarray(np.minimum(self._scales / np.sqrt(variance)[..., None], MAX_BET))

    def _claimed(self) -> Vector:
        """Return the mean of the next unit under each claim (..., m)."""
        if not self._finite:
            return self._means
        left = self._planned - self._units
        return (self._planned * self._means - self._total[..., None]) / left
