"""Confidence intervals of a proportion and of a mean.

Wilson is the default for 0/1 scores: its coverage stays near the nominal one for every n and p. The coverage of
the textbook interval (Wald, here `documented_normal_interval`) falls to 54 % for 15 samples at p = 0.95. For
the comparison see Brown, Cai and DasGupta (2001), "Interval estimation for a binomial proportion".
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from numpy.typing import ArrayLike

from benchwright.stats.arrays import exact_mean, exact_std, to_vector
from benchwright.stats.distributions import beta_quantile, normal_quantile, require_fraction, t_quantile


class Interval(NamedTuple):
    """Confidence interval, both ends included."""

    low: float
    high: float


def critical_z(confidence: float) -> float:
    """Return the two-sided critical value of the standard normal distribution (1.96 for 0.95)."""
    require_fraction("confidence", confidence)
    return normal_quantile((1 + confidence) / 2)


def critical_t(confidence: float, df: float) -> float:
    """Return the two-sided critical value of Student's t with df degrees of freedom."""
    require_fraction("confidence", confidence)
    return t_quantile((1 + confidence) / 2, df)


def wilson_interval(successes: float, n: float, confidence: float = 0.95) -> Interval:
    """Return the score interval of a proportion, Wilson (1927), without continuity correction.

    `successes` and `n` may be fractions (an effective sample size). n = 0 returns (0, 1).

    Raises:
        ValueError: Unless 0 <= successes <= n and 0 < confidence < 1.
    """
    _require_counts(successes, n)
    z = critical_z(confidence)
    if n == 0:
        return Interval(0.0, 1.0)
    p = successes / n
    widening = z * z / n
    centre = (p + widening / 2) / (1 + widening)
    half = math.sqrt(widening * (p * (1 - p) + widening / 4)) / (1 + widening)
    return Interval(max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)))


@lru_cache(4096)
def jeffreys_interval(successes: float, n: float, confidence: float = 0.95) -> Interval:
    """Return the equal-tailed interval of a proportion for Jeffreys' prior, Beta(1/2, 1/2).

    Brown, Cai and DasGupta (2001). It starts at 0 if there are no successes, and ends at 1 if all are
    successes. `successes` and `n` may be fractions (an effective sample size). n = 0 returns (0, 1).

    Raises:
        ValueError: Unless 0 <= successes <= n and 0 < confidence < 1.
    """
    _require_counts(successes, n)
    require_fraction("confidence", confidence)
    tail = (1 - confidence) / 2
    a, b = successes + 0.5, n - successes + 0.5
    low = 0.0 if successes == 0 else beta_quantile(tail, a, b)
    high = 1.0 if successes == n else beta_quantile(1 - tail, a, b)
    return Interval(low, high)


def t_interval(mean: float, se: float, df: float, confidence: float = 0.95) -> Interval:
    """Return mean ± t * se, with Student's t of df degrees of freedom."""
    half = critical_t(confidence, df) * se
    return Interval(mean - half, mean + half)


def equal_values_interval(
    value: float, n: float, value_range: tuple[float, float], confidence: float = 0.95
) -> Interval:
    """Return the interval of the mean of a bounded variable after n independent values that were all equal.

    If none of n values is different, then by Clopper and Pearson (1934) different values have a share of at
    most q = 1 - ((1 - confidence) / 2)^(1 / n). Each of them is within the range. That holds for every
    distribution in the range: if different values have a greater share, n equal values are too rare to spoil
    the coverage. The betting interval of Waudby-Smith and Ramdas (2024) has the same ends if each bet is the
    highest possible. The intervals of Hoeffding (1963), Anderson (1969) and Maurer and Pontil (2009) are wider
    here. `n` may be a fraction (an effective sample size).

    Raises:
        ValueError: Unless n > 0, the value is in the range and 0 < confidence < 1.
    """
    require_fraction("confidence", confidence)
    low, high = value_range
    if n <= 0 or not low <= value <= high:
        raise ValueError(f"{n} values of {value} in [{low}, {high}]")
    others = 1 - ((1 - confidence) / 2) ** (1 / n)
    return Interval(value - others * (value - low), value + others * (high - value))


def documented_normal_interval(values: ArrayLike) -> Interval:
    """Return the documented `confidence_interval_95`: mean ± 1.96 * std / sqrt(n), std with ddof 0.

    Kept for the file formats that document this interval. It covers far too little for few samples or extreme
    means. Without values, the interval is (0, 0). With one value, it has no width.
    """
    array = to_vector(values)
    if array.size == 0:
        return Interval(0.0, 0.0)
    mean = exact_mean(array)
    half = 1.96 * exact_std(array) / math.sqrt(array.size)
    return Interval(mean - half, mean + half)


def _require_counts(successes: float, n: float) -> None:
    if not 0 <= successes <= n:
        raise ValueError(f"successes lie between 0 and n: {successes} of {n}")
