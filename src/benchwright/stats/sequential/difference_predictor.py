"""Predictions from earlier results on the same samples: they narrow the interval without changing the mean.

The prediction is a control variate in a finite list. The prediction for the next unit (sample), minus the mean
prediction for all units that are left, has the mean 0 in random order, so it can be subtracted from the unit's
value. The better the prediction, the less the remainder varies. It is fitted only to the units before
(cross-fitting forwards), so however wrong it is, the bets are fair: Waudby-Smith and Ramdas (2024), section 5,
allow any bet that depends on the past. For means with the help of a model see Särndal, Swensson and Wretman
(1992), "Model Assisted Survey Sampling", chapter 6.

This needs the old model's scores of all samples (`--against`). It saves samples because an old answer and the
difficulty of its sample predict much of the new answer. If both models are asked in this run, little is known
in advance. It applies to the finite question only: the mean prediction over all units that might be drawn is
not known, and the mean over this list is no substitute, as the list itself is a sample of them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import Vector, require_same_length, to_vector

MAX_PREDICTION_DIFFERENCE = 1.0
"""Largest difference between two predictions. It is passed to `ConfidenceSequence` as `reach`."""
PRIOR_SLOPE = 0.6
"""Slope of the prediction before anything is fitted.

The new score is expected at this share of the way from the old score to the mean of the other models' scores.
"""
FIRST_FIT, NEXT_FIT = 20, 1.2
"""`FIRST_FIT`: number of units after which the slopes are first fitted.

`NEXT_FIT`: factor by which the number of units grows until they are fitted again.
"""
RIDGE_PENALTY = 8.0
"""Penalty of the ridge regression: the prior weighs as much as this many units."""


class DifferencePredictor:
    """Predictor of the differences new - old, unit by unit, in the order of the units.

    `old` (N,): the old model's scores of all units, in [0, 1]. `others` (N, k): the scores of k other models;
    without other models, pass the old scores as a column. The prediction is 0.6 (mean of others - old), plus a
    regression of the remainder on three variables: old, mean of others, and their product. It is clipped to
    [-1/2, 1/2].

    Raises:
        ValueError: If a value is not finite, or `old` and `others` do not have the same number of units.
    """

    def __init__(self, old: ArrayLike, others: ArrayLike) -> None:
        before, table = to_vector(old, "old"), np.asarray(others, np.float64)
        if table.ndim != 2 or table.shape[1] == 0:
            raise ValueError(f"others must be a table, one row a unit, not of shape {table.shape}")
        ease = to_vector(table.mean(axis=1), "others")
        require_same_length("old", before.size, "others", ease.size)
        self._features = np.stack([before, ease, before * ease], axis=1)
        self._supposed = PRIOR_SLOPE * (ease - before)
        self._differences: list[float] = []
        self._next_fit = FIRST_FIT
        self._predict(self._supposed - self._supposed.mean())

    def predict(self) -> float:
        """Return the prediction for the next unit minus the mean prediction for all units that are left."""
        place = len(self._differences)
        return float(self._predicted[place] - self._mean_of_rest[place])

    def learn(self, difference: float) -> None:
        """Add the observed difference of the next unit: the midpoint of its bounds if it is not known exactly."""
        self._differences.append(difference)
        if len(self._differences) >= self._next_fit:
            self._next_fit = int(len(self._differences) * NEXT_FIT) + 1
            self._fit()

    def _fit(self) -> None:
        n = len(self._differences)
        missed = np.asarray(self._differences) - self._supposed[:n]
        centre = self._features[:n].mean(axis=0)
        seen = self._features[:n] - centre
        rows = np.vstack([seen, math.sqrt(RIDGE_PENALTY) * np.eye(seen.shape[1])])
        slopes = np.linalg.lstsq(rows, np.append(missed - missed.mean(), np.zeros(seen.shape[1])))[0]
        expected = self._supposed + (self._features - centre) @ slopes
        self._predict(expected - expected.mean())

    def _predict(self, differences: Vector) -> None:
        self._predicted = np.clip(differences, -MAX_PREDICTION_DIFFERENCE / 2, MAX_PREDICTION_DIFFERENCE / 2)
        sums = np.cumsum(self._predicted[::-1])[::-1]
        self._mean_of_rest = sums / np.arange(sums.size, 0, -1)
