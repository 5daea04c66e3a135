"""Interval of the difference or ratio of two estimates, computed from nothing but the intervals of the two
estimates.

The method of variance estimates recovery (Zou and Donner 2008, Statistics in Medicine 27:1693; Newcombe does
the same with Wilson's intervals). The sides a and b are independent, with estimates p and interval ends l and
u; d = p_b - p_a. The interval of d goes from d - sqrt((p_b - l_b)^2 + (u_a - p_a)^2) to d + sqrt((u_b - p_b)^2
+ (p_a - l_a)^2). An end is infinite if one of its terms is infinite.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from benchwright.stats.distributions import normal_cdf, normal_quantile
from benchwright.stats.intervals import Interval


class IntervalEstimate(NamedTuple):
    """Estimate with the ends of its interval. An end may be infinite."""

    value: float
    low: float
    high: float


def difference_interval(a: IntervalEstimate, b: IntervalEstimate) -> Interval:
    """Return the interval of b - a. Its confidence is the one of the given intervals of a and b."""
    below = math.hypot(max(b.value - b.low, 0.0), max(a.high - a.value, 0.0))
    above = math.hypot(max(b.high - b.value, 0.0), max(a.value - a.low, 0.0))
    gap = b.value - a.value
    return Interval(gap - below, gap + above)


def ratio_interval(a: IntervalEstimate, b: IntervalEstimate) -> Interval:
    """Return the interval of b / a, computed as the interval of log b - log a.

    Raises:
        ValueError: If an estimate is not positive.
    """
    low, high = difference_interval(_log(a), _log(b))
    return Interval(math.exp(low), math.exp(high))


def ratio_p_value(a: IntervalEstimate, b: IntervalEstimate, confidence: float = 0.95) -> float | None:
    """Return the two-sided p-value of the hypothesis b = a.

    It follows from the end of the ratio's interval that is nearer to 1. None if that end is infinite on the log
    scale (0 or infinity). `confidence`: the confidence of the intervals of a and b.

    Raises:
        ValueError: If an estimate is not positive.
    """
    low, high = ratio_interval(a, b)
    gap = math.log(b.value / a.value)
    if gap == 0:
        return 1.0
    end = low if gap > 0 else high
    if end in (0.0, math.inf):
        return None
    half = abs(gap - math.log(end))
    if half == 0:
        return 0.0
    return 2 * normal_cdf(-abs(gap) / half * normal_quantile((1 + confidence) / 2))


def _log(one: IntervalEstimate) -> IntervalEstimate:
    if not one.value > 0:
        raise ValueError(f"a ratio needs positive estimates, not {one.value}")
    low = math.log(one.low) if one.low > 0 else -math.inf
    high = math.log(one.high) if one.high < math.inf else math.inf
    return IntervalEstimate(math.log(one.value), low, high)
