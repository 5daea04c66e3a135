"""Tests of whether A is better than B on different samples: the fallback without pairs, with far less power."""

from __future__ import annotations

import math
from typing import Literal

import msgspec
from numpy.typing import ArrayLike

from benchwright.stats.arrays import Vector, are_binary, exact_mean, exact_sum, sample_std, to_vector
from benchwright.stats.distributions import normal_cdf, t_cdf
from benchwright.stats.intervals import Interval, t_interval, wilson_interval

UnpairedIntervalMethod = Literal["score", "welch", "none"]


class UnpairedDifference(msgspec.Struct, frozen=True, omit_defaults=True):
    """Difference of two means over different samples: `n_a` samples on one side and `n_b` on the other.

    `method`: how the interval and the two-sided p-value were computed. Both are None if the data cannot support
    them.
    """

    mean_a: float
    mean_b: float
    difference: float
    n_a: int
    n_b: int
    method: UnpairedIntervalMethod
    confidence: float = 0.95
    se: float | None = None
    interval: Interval | None = None
    p_value: float | None = None


def unpaired_difference(a: ArrayLike, b: ArrayLike, *, confidence: float = 0.95) -> UnpairedDifference:
    """Return the difference of the means of a (n_a,) and b (n_b,).

    There is one value per sample, and all values are independent. If both sides are 0/1: Newcombe's hybrid
    score interval and the score test. Otherwise: Welch's t. It needs at least two values on each side, and a
    side whose values vary.

    Raises:
        ValueError: If a side has no values, or a value is not finite.
    """
    left, right = to_vector(a, "a"), to_vector(b, "b")
    if left.size == 0 or right.size == 0:
        raise ValueError(f"both sides need values: {left.size} and {right.size}")
    mean_a, mean_b = exact_mean(left), exact_mean(right)
    result = UnpairedDifference(mean_a, mean_b, mean_a - mean_b, left.size, right.size, "none", confidence)
    se, df = _welch_error(left, right)
    if are_binary(left) and are_binary(right):
        counts = exact_sum(left), left.size, exact_sum(right), right.size
        method: UnpairedIntervalMethod = "score"
        interval, p_value = newcombe_interval(*counts, confidence), two_proportion_test(*counts)
    elif se and df:
        method = "welch"
        interval = t_interval(result.difference, se, df, confidence)
        p_value = 2 * t_cdf(-abs(result.difference) / se, df)
    else:
        return msgspec.structs.replace(result, se=se)
    return msgspec.structs.replace(result, method=method, se=se, interval=interval, p_value=p_value)


def newcombe_interval(
    successes_a: float, n_a: float, successes_b: float, n_b: float, confidence: float = 0.95
) -> Interval:
    """Return the interval of the difference p_a - p_b of two independent proportions, from the Wilson interval
    of each.

    Method 10 of Newcombe (1998), Statistics in Medicine 17:873: with l and u the Wilson ends of each side and d
    = p_a - p_b, from d - sqrt((p_a - l_a)^2 + (u_b - p_b)^2) to d + sqrt((u_a - p_a)^2 + (p_b - l_b)^2).

    Raises:
        ValueError: If n_a or n_b is not above 0, or successes are outside [0, n].
    """
    _require_samples(n_a, n_b)
    a, b = wilson_interval(successes_a, n_a, confidence), wilson_interval(successes_b, n_b, confidence)
    p_a, p_b = successes_a / n_a, successes_b / n_b
    low = p_a - p_b - math.hypot(p_a - a.low, b.high - p_b)
    high = p_a - p_b + math.hypot(a.high - p_a, p_b - b.low)
    return Interval(max(-1.0, low), min(1.0, high))


def two_proportion_test(successes_a: float, n_a: float, successes_b: float, n_b: float) -> float:
    """Return the two-sided p-value of the hypothesis that two independent proportions are equal: z with the
    pooled variance.

    Return 1 if nothing succeeded on both sides, or everything did.

    Raises:
        ValueError: If n_a or n_b is not above 0.
    """
    _require_samples(n_a, n_b)
    pooled = (successes_a + successes_b) / (n_a + n_b)
    variance = pooled * (1 - pooled) * (1 / n_a + 1 / n_b)
    if variance == 0:
        return 1.0
    return 2 * normal_cdf(-abs(successes_a / n_a - successes_b / n_b) / math.sqrt(variance))


def _require_samples(n_a: float, n_b: float) -> None:
    if not (n_a > 0 and n_b > 0):
        raise ValueError(f"both sides need samples: {n_a} and {n_b}")


def _welch_error(a: Vector, b: Vector) -> tuple[float | None, float | None]:
    """Return the standard error and degrees of freedom (Welch 1947, Satterthwaite 1946). Each is None if undefined."""
    if a.size < 2 or b.size < 2:
        return None, None
    from_a, from_b = sample_std(a) ** 2 / a.size, sample_std(b) ** 2 / b.size
    total = from_a + from_b
    if total == 0:
        return 0.0, None
    share_a, share_b = from_a / total, from_b / total
    return math.sqrt(total), 1 / (share_a**2 / (a.size - 1) + share_b**2 / (b.size - 1))
