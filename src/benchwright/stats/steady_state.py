"""Steady state, detected in the measurements themselves: the end of the warm-up, and drift after it.

Values are in order of time, one for each request. Both detections use means of batches, so that a single slow
request does not decide.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import to_vector
from benchwright.stats.distributions import t_cdf

WARM_UP_BATCH_SIZE = 5
"""Number of values per batch in `warm_up_length`: the 5 in the name of the rule, MSER-5."""

MIN_BATCHES = 8
"""Minimum number of batches for `warm_up_length`; with fewer, it returns 0."""

DRIFT_PART_COUNT = 10
"""Number of parts into which `estimate_drift` divides a series. Each part needs at least two values."""

MIN_GROWTH_VALUES = 5
"""Minimum number of values for `estimate_growth`. With fewer values, the growth is unknown."""

MAX_DRIFT_P_VALUE = 0.001
"""p-value below which a slope is considered real: one in a thousand steady series is falsely called drifting."""


class Drift(NamedTuple):
    """Change of a series from its first to its last tenth.

    `change`: the change as a share of the mean. `p_value`: p-value of the hypothesis that there is no change.
    """

    change: float
    p_value: float


class Growth(NamedTuple):
    """Growth of a series from its first to its last value. `standard_error`: standard error of the growth.

    `p_value`: p-value of the hypothesis that there is no growth.
    """

    amount: float
    standard_error: float
    p_value: float


def warm_up_length(values: ArrayLike) -> int:
    """Return the number of initial values to drop as warm-up (MSER-5).

    MSER-5 (White 1997, "An effective truncation heuristic for bias reduction in simulation output", Simulation
    69) divides the values into batches of 5 and drops the first d batches. d is at most half of the batches. It
    is chosen so that the variance of the remaining batch means, divided by their number, is least: the squared
    standard error of their mean. Return 0 if there are fewer than 40 values.

    Raises:
        ValueError: If a value is not finite.
    """
    batches = _means(to_vector(values), WARM_UP_BATCH_SIZE)
    if batches.size < MIN_BATCHES:
        return 0
    ends = batches[::-1] - batches.mean()
    number = np.arange(1, batches.size + 1)
    means = np.cumsum(ends) / number
    spread = np.clip(np.cumsum(ends * ends) / number - means * means, 0.0, None)
    errors = (spread / number)[::-1][: batches.size // 2 + 1]
    tolerance = 1e-12 * float(batches.mean()) ** 2
    return int(np.argmax(errors <= errors.min() + tolerance)) * WARM_UP_BATCH_SIZE


def estimate_drift(values: ArrayLike) -> Drift | None:
    """Return the drift of a series: the slope of a line through the means of its ten parts, with a t-test.

    Return None if there are fewer than 20 values, or if their mean is 0.

    Raises:
        ValueError: If a value is not finite.
    """
    given = to_vector(values)
    size = given.size // DRIFT_PART_COUNT
    level = float(given.mean()) if given.size else 0.0
    if size < 2 or not level:
        return None
    parts = _means(given[given.size - size * DRIFT_PART_COUNT :], size)
    line = _line(np.arange(float(DRIFT_PART_COUNT)), parts)
    return Drift(line.slope * (DRIFT_PART_COUNT - 1) / level, line.p_value)


def estimate_growth(values: ArrayLike) -> Growth | None:
    """Return the growth of a series, by a line through the means of at most ten parts of the series.

    Return None if there are fewer than 5 values.

    Raises:
        ValueError: If a value is not finite.
    """
    given = to_vector(values)
    if given.size < MIN_GROWTH_VALUES:
        return None
    parts = np.array_split(np.arange(given.size), min(DRIFT_PART_COUNT, given.size))
    line = _line(*(np.array([of[part].mean() for part in parts]) for of in (np.arange(given.size), given)))
    steps = given.size - 1
    return Growth(line.slope * steps, line.error * steps, line.p_value)


class _Line(NamedTuple):
    slope: float
    error: float
    p_value: float


def _line(place: np.ndarray, values: np.ndarray) -> _Line:
    """Return the least-squares line, the standard error of its slope, and the p-value of a t-test of the slope."""
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
