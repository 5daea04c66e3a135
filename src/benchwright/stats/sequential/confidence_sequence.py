"""Confidence sequence for a mean: an interval that may be read after every unit, valid at all times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import Vector, to_vector
from benchwright.stats.intervals import Interval
from benchwright.stats.sequential.betting import BettingProcess

TESTED_MEANS_COUNT = 401
"""Default number of means that are tested as possible ends of the interval.

They are densest near the middle of the bounds, because most differences are small.
"""
ROUNDING_TOLERANCE = 1e-9
"""Tolerance for rounding in sums of floats. Ends of the interval that follow from sums alone are widened by it."""


class ConfidenceSequence:
    """Confidence sequence for a mean: it contains the mean at all times, with probability 1 - 2 side_error.

    This is the least probability that the mean is never outside of `low` and `high` (...). Each end alone holds
    with probability 1 - side_error. A unit is what is drawn at random: one sample with its mean difference over
    repeats, or a whole cluster of samples. Units come in a random order. A stratified order is not random, as
    the next unit then depends on the ones before. `low` is the largest m such that every mean up to m is
    refuted: its `BettingProcess` has reached 1 / side_error. `high` is computed likewise, with all signs
    reversed. Both are running intersections: an end never moves back outwards. If the intersection would be
    empty, the last interval stays.

    - not `finite`: the mean over all units of this kind that might be drawn. With weights it is the ratio E[w
      x] / E[w]: the mean over samples, if w is the size of the unit divided by the largest possible size.
    - `finite`: the mean over a list of exactly `planned` units, as if all of them had been measured.

    `planned`: the largest number of units (the exact number, if `finite`). `bounds`: the least and greatest
    possible value. `thresholds`: the means that matter (0, the margin); they are always tested. Ends at other
    means are rounded outwards, less so with more `claims`. `reach`: the largest absolute value of `expected` in
    `add`. With a `shape`, values of that shape are processed in parallel, and `side_error` may have the shape,
    too.

    Raises:
        ValueError: If planned < 1, side_error is outside (0, 1), the bounds have no width, or a threshold is
            outside them.
    """

    def __init__(
        self,
        planned: int,
        *,
        side_error: ArrayLike = 0.025,
        bounds: tuple[float, float] = (-1.0, 1.0),
        finite: bool = False,
        thresholds: tuple[float, ...] = (0.0,),
        reach: float = 0.0,
        claims: int = TESTED_MEANS_COUNT,
        shape: tuple[int, ...] = (),
    ) -> None:
        errors = np.asarray(side_error, np.float64)
        if planned < 1 or not bounds[0] < bounds[1] or not 0 < errors.min() <= errors.max() < 1:
            raise ValueError(
                f"no such sequence: {planned} planned, bounds {bounds}, error {side_error!r} per side"
            )
        if any(not bounds[0] <= threshold <= bounds[1] for threshold in thresholds):
            raise ValueError(f"thresholds {thresholds} are not all within the bounds {bounds}")
        self.planned, self.bounds, self.finite = planned, bounds, finite
        self._needed = -np.log(errors)[..., None]
        self.units, self._reach = 0, reach
        self.low, self.high = np.full(shape, bounds[0]), np.full(shape, bounds[1])
        self._middle = (bounds[0] + bounds[1]) / 2
        self._half = (bounds[1] - bounds[0]) / 2 + reach
        curve = np.linspace(-1.0, 1.0, claims)
        means = np.unique(np.concatenate([self._middle + self._half * curve * np.abs(curve), thresholds]))
        self._means = np.stack([means, -means[::-1]]).reshape(2, *(1 for _ in shape), -1)
        self._signs = np.array([1.0, -1.0]).reshape(2, *(1 for _ in shape))
        scaled = (self._means - self._signs[..., None] * self._middle) / self._half
        self._capital = BettingProcess(scaled, planned, finite=finite, shape=(2, *shape))
        self._totals = np.zeros((2, *shape))

    def add(
        self,
        least: ArrayLike,
        most: ArrayLike | None = None,
        *,
        weight: ArrayLike = 1.0,
        expected: ArrayLike = 0.0,
    ) -> None:
        """Process the next unit.

        `least` is its value; if the value is not known, `least` and `most` are its bounds. The interval then
        holds whatever the unknown values are. `expected`: the prediction (see `difference_predictor`) for this
        unit minus the mean prediction for the remaining units, at most `reach` in absolute value.

        Raises:
            ValueError: If a value is out of bounds, a weight is outside [0, 1], a finite list gets weights or
                too many units, `expected` exceeds `reach`, or `expected` is not 0 although the list is not
                finite.
        """
        both = (least, least if most is None else most)
        ends = np.stack([np.broadcast_to(np.asarray(end, np.float64), self.low.shape) for end in both])
        self._check(ends, np.asarray(weight, np.float64), np.asarray(expected, np.float64))
        scaled = self._signs * (ends - self._middle) / self._half
        self._capital.add(scaled, weight, self._signs * expected / self._half)
        self._totals += ends
        self.units += 1
        self._narrow()

    def _check(self, ends: Vector, weight: Vector, expected: Vector) -> None:
        low, high = self.bounds
        if not (low - ROUNDING_TOLERANCE <= ends.min() and ends.max() <= high + ROUNDING_TOLERANCE):
            raise ValueError(f"a value is not within the bounds {self.bounds}: {ends.min()} to {ends.max()}")
        if self.finite and (self.units >= self.planned or weight.min() < 1):
            raise ValueError("a finite list has no weights, and no more units than planned")
        if weight.min() < 0 or weight.max() > 1:
            raise ValueError("weights lie between 0 and 1")
        if np.abs(expected).max() > (self._reach + ROUNDING_TOLERANCE if self.finite else 0.0):
            raise ValueError("what is expected of a unit must be within `reach`, in a finite list")

    def _narrow(self) -> None:
        limits = self._limits()
        low, high = limits[0], -limits[1]
        if self.finite:
            left = self.planned - self.units
            low = np.maximum(
                low, (self._totals[0] + left * self.bounds[0]) / self.planned - ROUNDING_TOLERANCE
            )
            high = np.minimum(
                high, (self._totals[1] + left * self.bounds[1]) / self.planned + ROUNDING_TOLERANCE
            )
        low, high = np.maximum(low, self.low), np.minimum(high, self.high)
        sound = low <= high
        self.low, self.high = np.where(sound, low, self.low), np.where(sound, high, self.high)

    def _limits(self) -> Vector:
        """Return the limits (2, ...) up to which every mean is refuted: for the values, and for their
        negatives.

        -infinity means that no mean is refuted. The logarithm of the capital is convex in the mean. So between
        two tested means, it is above the straight line through the two tested means before them. Up to the
        point at which that line falls to the threshold, the mean is still refuted.
        """
        surplus = self._capital.log_capital - self._needed
        just_above = np.nextafter(self._means, np.inf)
        gaps = np.diff(self._means)
        with np.errstate(invalid="ignore", divide="ignore"):
            beyond = surplus[..., 1:-1] * gaps[..., :-1] / (surplus[..., :-2] - surplus[..., 1:-1])
        limits = np.where(surplus >= 0, just_above, -np.inf)
        known = (surplus[..., 1:-1] >= 0) & np.isfinite(beyond)
        limits[..., 1:-1] += np.where(known, np.minimum(beyond, gaps[..., 1:]), 0.0)
        return np.asarray(limits.max(axis=-1))


def running_interval(
    values: ArrayLike, planned: int, *, error: float = 0.05, weights: ArrayLike = 1.0
) -> Interval:
    """Return the interval after all of the values (n,). The values are in [-1, 1] and in random order.

    Each end may be wrong with probability `error` / 2.
    """
    running = ConfidenceSequence(planned, side_error=error / 2)
    units = to_vector(values, "values")
    for value, weight in zip(units, np.broadcast_to(weights, units.shape), strict=True):
        running.add(value, weight=weight)
    return Interval(float(running.low), float(running.high))
