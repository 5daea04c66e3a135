"""Steady state, found in the measurements themselves: where the warm-up ends, and whether it goes on changing after it.

Values are in the order of time, one for each request. Both rules look at means of batches, so that single slow requests
do not decide.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import vector
from benchwright.stats.distributions import t_cdf

BATCH = 5
"""Values to a batch of `warm_up`: the 5 of MSER-5."""

FEWEST_BATCHES = 8
"""With fewer batches no end of a warm-up is looked for."""

PARTS = 10
"""Parts of `drift`, of two values at least."""

FEWEST_GROWING = 5
"""With fewer values `growth` is not known."""

CERTAIN = 0.001
"""The p-value of a slope below which it is taken to be real: of a thousand steady runs, one is called drifting."""


class Drift(NamedTuple):
    """How values change from the first to the last tenth: `change` as a share of their mean, `p_value` of no change."""

    change: float
    p_value: float


class Growth(NamedTuple):
    """By how much values grow from the first to the last, its standard error, and the p-value of no growth."""

    amount: float
    error: float
    p_value: float


def warm_up(values: ArrayLike) -> int:
    """How many values to leave out at the beginning: those without which the mean of the rest is known best.

    MSER-5 (White 1997, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69): of
    the means of batches of 5, the first d are left out for which the variance of the rest over their number is least,
    with d at most half of them. 0 where there are fewer than 40 values.

    Raises:
        ValueError: a value is not finite.
    """
    batches = _means(vector(values), BATCH)
    if batches.size < FEWEST_BATCHES:
        return 0
    ends = batches[::-1] - batches.mean()
    number = np.arange(1, batches.size + 1)
    means = np.cumsum(ends) / number
    spread = np.clip(np.cumsum(ends * ends) / number - means * means, 0.0, None)
    errors = (spread / number)[::-1][: batches.size // 2 + 1]
    tolerance = 1e-12 * float(batches.mean()) ** 2
    return int(np.argmax(errors <= errors.min() + tolerance)) * BATCH


def drift(values: ArrayLike) -> Drift | None:
    """The slope of a line through the means of ten parts, and its t-test; None of fewer than 20 values, or of zeros.

    Raises:
        ValueError: a value is not finite.
    """
    given = vector(values)
    size = given.size // PARTS
    level = float(given.mean()) if given.size else 0.0
    if size < 2 or not level:
        return None
    parts = _means(given[given.size - size * PARTS :], size)
    line = _line(np.arange(float(PARTS)), parts)
    return Drift(line.slope * (PARTS - 1) / level, line.p_value)


def growth(values: ArrayLike) -> Growth | None:
    """Return by how much values grow from the first to the last, by a line through the means of ten parts at most.

    None for fewer than 5 values.

    Raises:
        ValueError: If a value is not finite.
    """
    given = vector(values)
    if given.size < FEWEST_GROWING:
        return None
    parts = np.array_split(np.arange(given.size), min(PARTS, given.size))
    line = _line(*(np.array([of[part].mean() for part in parts]) for of in (np.arange(given.size), given)))
    steps = given.size - 1
    return Growth(line.slope * steps, line.error * steps, line.p_value)


class _Line(NamedTuple):
    slope: float
    error: float
    p_value: float


def _line(place: np.ndarray, values: np.ndarray) -> _Line:
    """The straight line through values by least squares, the standard error of its slope, and the t-test of it."""
    place = place - place.mean()
    squares, df = float(place @ place), values.size - 2
    slope = float(place @ values) / squares
    rest = values - values.mean() - slope * place
    error = math.sqrt(float(rest @ rest) / df / squares)
    level = abs(float(values.mean()))
    if error <= 1e-12 * level:
        return _Line(slope, 0.0, 0.0 if abs(slope) * (values.size - 1) > 1e-9 * level else 1.0)
    return _Line(slope, error, 2 * t_cdf(-abs(slope) / error, df))


def _means(values: np.ndarray, size: int) -> np.ndarray:
    number = values.size // size
    means: np.ndarray = values[: number * size].reshape(number, size).mean(axis=1)
    return means
