"""Means over time of quantities that were read at discrete times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import Vector, require_same_length, to_vector


def mean_between(times: ArrayLike, values: ArrayLike, begin: float, end: float) -> float:
    """Return the mean of a quantity from `begin` to `end`.

    It was read at ascending `times` (n,); `values` (n,) are the readings. Trapezoidal rule: the quantity is
    taken as linear between readings.

    Raises:
        ValueError: If the readings do not cover `begin` to `end`, or `end` is not after `begin`.
    """
    at, read = _covering(times, values, begin, end)
    inside = (at > begin) & (at < end)
    moments = np.concatenate(([begin], at[inside], [end]))
    return float(np.trapezoid(np.interp(moments, at, read), moments)) / (end - begin)


def growth_between(times: ArrayLike, values: ArrayLike, begin: float, end: float) -> float:
    """Return the growth of a counter per unit of time from `begin` to `end`, taken as linear between its
    readings.

    Raises:
        ValueError: As in `mean_between`.
    """
    at, read = _covering(times, values, begin, end)
    first, last = np.interp([begin, end], at, read)
    return float(last - first) / (end - begin)


def _covering(times: ArrayLike, values: ArrayLike, begin: float, end: float) -> tuple[Vector, Vector]:
    at, read = to_vector(times, "times"), to_vector(values, "values")
    require_same_length("times", at.size, "values", read.size)
    if not begin < end or not at.size or at[0] > begin or at[-1] < end:
        raise ValueError("the readings must reach from the beginning to the end, which comes later")
    return at, read
