"""Intervals for dependent values, such as the times of requests in one queue, from batch means.

The values are in order of time. The variance of a mean is estimated from the means of 16 batches (Schmeiser
1982, "Batch size effects in the analysis of simulation output", Operations Research 30: 10 to 30). If the
batches are long, their means hardly depend on each other. The remaining dependence is modelled as a first-order
autoregression, as in ASAP3 (Steiger and others 2005, ACM Transactions on Modeling and Computer Simulation 15):
it widens the variance and leaves fewer degrees of freedom. The coverage of these intervals is measured in
`tests/stats/test_batches.py`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.stats.arrays import Vector, to_vector
from benchwright.stats.distributions import binomial_quantile, normal_quantile, require_fraction
from benchwright.stats.intervals import Interval, critical_t

BATCH_COUNT = 16

MIN_BATCHED_VALUES = 2 * BATCH_COUNT
"""Minimum number of values that are divided into batches.

Fewer values are treated as independent, because batches of one value show no dependence.
"""

MIN_BATCHES_BEYOND = 6
"""Minimum number of batches with values beyond a percentile.

With fewer such batches, the percentile has no interval. Near saturation, the longest times of a queue come in
few episodes, and these say little about the next episode.
"""

MAX_AUTOCORRELATION = 0.8
"""Upper limit of the estimated autocorrelation of batches: 16 batches cannot support a higher one."""


class LongRunVariance(NamedTuple):
    """Long-run variance of a series: it includes the covariances between the values of the series.

    `df`: degrees of freedom.
    """

    variance: float
    df: float


def long_run_variance(values: ArrayLike) -> LongRunVariance:
    """Return the long-run variance of n values: n times the variance of their mean.

    The values are in order of time.

    Raises:
        ValueError: If there are fewer than two values, or a value is not finite.
    """
    given = to_vector(values)
    if given.size < 2:
        raise ValueError("one value says nothing of a variance")
    if given.size < MIN_BATCHED_VALUES:
        return LongRunVariance(float(given.var(ddof=1)), given.size - 1.0)
    size = given.size // BATCH_COUNT
    means = given[given.size - size * BATCH_COUNT :].reshape(BATCH_COUNT, size).mean(axis=1)
    centred = means - means.mean()
    squares = float(centred @ centred)
    if squares <= 1e-24 * max(1.0, float(np.abs(means).max()) ** 2):
        return LongRunVariance(0.0, BATCH_COUNT - 1.0)
    raw = float(centred[1:] @ centred[:-1]) / squares
    correlation = min(max(raw + (1 + 3 * raw) / BATCH_COUNT, 0.0), MAX_AUTOCORRELATION)
    inflation = (1 + correlation) / (1 - correlation)
    return LongRunVariance(
        size * squares / (BATCH_COUNT - 1) * inflation, max(2.0, (BATCH_COUNT - 1) / inflation)
    )


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Return the two-sided t interval of the mean of dependent values, in order of time.

    Raises:
        ValueError: As in `long_run_variance`.
    """
    given = to_vector(values)
    found = long_run_variance(given)
    half = critical_t(confidence, found.df) * math.sqrt(found.variance / given.size)
    mean = float(given.mean())
    return Interval(mean - half, mean + half)


def effective_series_size(indicator: ArrayLike, share: float) -> float:
    """Return the effective size of a series of zeros and ones with this `share` of ones.

    It is the number of independent zeros and ones that would determine the share equally well; at most the
    actual number. The few degrees of freedom are already accounted for: use the result with a quantile of the
    normal or binomial distribution instead of Student's t.

    Raises:
        ValueError: As in `long_run_variance`, or if `share` is not in (0, 1).
    """
    require_fraction("share", share)
    given = to_vector(indicator)
    found = long_run_variance(given)
    plain = share * (1 - share)
    if found.variance <= plain:
        return float(given.size)
    narrower = normal_quantile(0.975) / critical_t(0.95, found.df)
    return max(1.0, given.size * plain / found.variance * narrower * narrower)


def _episodes(rare: NDArray[np.bool_]) -> int:
    """Return the number of batches in which any value of `rare` is True.

    Return the number of all batches if there are fewer than `MIN_BATCHED_VALUES` values.
    """
    size = rare.size // BATCH_COUNT
    if rare.size < MIN_BATCHED_VALUES:
        return BATCH_COUNT
    return int(rare[rare.size - size * BATCH_COUNT :].reshape(BATCH_COUNT, size).any(axis=1).sum())


def percentile_interval(values: ArrayLike, q: float, confidence: float = 0.95) -> Interval:
    """Return the two-sided interval of the q-quantile of dependent values. Its ends are order statistics.

    The method is the one of `percentiles.percentile_interval`, but the ranks come from a binomial distribution
    with `effective_series_size` trials: the number of independent values that carry as much information. An end that
    is not known is infinite. Neither end is known if fewer than `MIN_BATCHES_BEYOND` batches contain values beyond
    the quantile.

    Raises:
        ValueError: If there are no values, a value is not finite, or q or confidence is outside (0, 1).
    """
    require_fraction("q", q)
    require_fraction("confidence", confidence)
    tail = (1 - confidence) / 2
    ordered, size = _worth(to_vector(values), q)
    if size is None:
        return Interval(-math.inf, math.inf)
    lower = binomial_quantile(tail, size, q)
    low = float(ordered[math.ceil(lower * ordered.size / size) - 1]) if lower > 0 else -math.inf
    return Interval(low, _upper(ordered, size, q, 1 - tail))


def percentile_bound(values: ArrayLike, q: float, confidence: float = 0.99) -> float:
    """Return the one-sided upper bound of the q-quantile of dependent values.

    Infinite if there are too few values.

    Raises:
        ValueError: As in `percentile_interval`.
    """
    require_fraction("q", q)
    require_fraction("confidence", confidence)
    ordered, size = _worth(to_vector(values), q)
    return math.inf if size is None else _upper(ordered, size, q, confidence)


def _worth(given: Vector, q: float) -> tuple[Vector, int | None]:
    """Return the sorted values and their effective size for the q-quantile. The size is None if it is unknown."""
    ordered: Vector = np.sort(given)
    if given.size < 2:
        return ordered, None
    below = given <= float(np.quantile(ordered, q))
    if _episodes(below if q < 0.5 else ~below) < MIN_BATCHES_BEYOND:
        return ordered, None
    return ordered, int(effective_series_size(below, q))


def _upper(ordered: Vector, size: int, q: float, probability: float) -> float:
    rank = binomial_quantile(probability, size, q)
    if rank >= size:
        return math.inf
    return float(ordered[min(math.floor(rank * ordered.size / size), ordered.size - 1)])
