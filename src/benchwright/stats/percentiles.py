"""Percentiles of durations with their confidence intervals.

They are computed from the values themselves, not from buckets. The ends of the intervals are order statistics
and hold for every distribution (David and Nagaraja 2003, "Order Statistics", section 7.1), as long as the
values are independent.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import Vector, to_vector
from benchwright.stats.distributions import binomial_quantile, require_fraction
from benchwright.stats.intervals import Interval


def percentile(values: ArrayLike, q: float) -> float:
    """Return the q-quantile (q in [0, 1]) as numpy.percentile computes it: linear between order statistics.

    Raises:
        ValueError: If there are no values, one is not finite, or q is outside [0, 1].
    """
    return float(np.quantile(_ordered(values), q))


def percentile_interval(values: ArrayLike, q: float, confidence: float = 0.95) -> Interval:
    """Return the two-sided interval of the q-quantile of independent values. Its ends are order statistics.

    Each tail has (1 - confidence) / 2. With B ~ Binomial(n, q) the number of values below the quantile, the
    l-th smallest value is too high with probability P(B < l), and the u-th smallest is too low with P(B >= u).
    An end is infinite if n is too small for it. With one or two values, `percentile` itself may be outside the
    interval.

    Raises:
        ValueError: If there are no values, a value is not finite, or q or confidence is outside (0, 1).
    """
    require_fraction("q", q)
    require_fraction("confidence", confidence)
    ordered = _ordered(values)
    tail = (1 - confidence) / 2
    lower = binomial_quantile(tail, ordered.size, q)
    upper = binomial_quantile(1 - tail, ordered.size, q)
    low = float(ordered[lower - 1]) if lower > 0 else -math.inf
    high = float(ordered[upper]) if upper < ordered.size else math.inf
    return Interval(low, high)


def cumulative_points(values: ArrayLike, most: int) -> list[tuple[float, float]]:
    """Return points (value, share of the values that are not larger) of the cumulative distribution, in
    ascending order.

    Up to `most` values, each value is a point. For more values, the points are every 1/`most`-th quantile, the
    0.999 quantile and the largest value: at most `most` + 1 points.

    Raises:
        ValueError: If there are no values, or a value is not finite.
    """
    ordered = _ordered(values)
    shares = np.arange(1, ordered.size + 1) / ordered.size
    if ordered.size > most:
        shares = np.append(np.arange(1, most) / most, [0.999, 1.0])
    places = np.ceil(shares * ordered.size - 1e-9).astype(int) - 1
    return [(float(ordered[place]), float(share)) for place, share in zip(places, shares, strict=True)]


def _ordered(values: ArrayLike) -> Vector:
    array = to_vector(values)
    if array.size == 0:
        raise ValueError("no values: they have no percentiles")
    return np.sort(array)
