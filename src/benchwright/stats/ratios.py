"""Ratios of two sums (such as right answers per second, or per 1,000 tokens), and the time that each of
several overlapping intervals is charged with.

Both sums of a ratio come from the same trials. The error of the ratio is therefore computed over trials: their
time or tokens vary as well as their correctness, and the two are correlated.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.stats.arrays import Vector, exact_sum, require_same_length, to_vector
from benchwright.stats.clusters import group_codes, mean_of_numbered_clusters
from benchwright.stats.intervals import Interval, critical_t

RatioIntervalMethod = Literal["sqrt-ratio-t", "none"]

VALUES_PER_BLOCK = 65_536


class Ratio(NamedTuple):
    """sum(numerators) / sum(denominators), with a standard error over `n_groups` clusters of trials.

    `interval` is None if the data cannot support an interval.
    """

    value: float
    se: float | None
    interval: Interval | None
    method: RatioIntervalMethod
    numerator: float
    denominator: float
    n_groups: int


def clustered_ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    groups: Iterable[Hashable | None],
    *,
    confidence: float = 0.95,
) -> Ratio | None:
    """Return the ratio R of two sums over n units in C clusters. None if the denominators sum to 0.

    The error is the one of the linearised ratio (Cochran 1977, "Sampling Techniques", section 6.3; over
    clusters as in Liang and Zeger 1986): with e_g the sum of y - R x over cluster g, se = sqrt(C / (C - 1) *
    sum(e_g^2)) / sum(x). The interval is (sqrt(R) ± t * se / (2 sqrt(R)))^2, not below 0: the delta method on
    the scale on which the variance of a count per time does not depend on the rate (Bartlett 1936). In the
    simulations of the tests it covers 93 to 97 %; without the square root, the coverage falls to 90 % for few
    right answers. t has the degrees of freedom of `clusters.clustered_mean`. There is no interval with fewer
    than two clusters, if R is 0, or if the squares exceed the largest float.

    Raises:
        ValueError: If lengths differ, or a value is negative or not finite.
    """
    above, below = to_vector(numerators, "numerators"), to_vector(denominators, "denominators")
    codes, n_groups = group_codes(groups)
    require_same_length("numerators", above.size, "denominators", below.size)
    require_same_length("numerators", above.size, "groups", codes.size)
    if (above < 0).any() or (below < 0).any():
        raise ValueError("neither numerators nor denominators may be negative")
    top, bottom = exact_sum(above), exact_sum(below)
    if bottom == 0:
        return None
    value = top / bottom
    residuals = value * below
    np.subtract(above, residuals, out=residuals)
    residuals *= above.size / bottom
    with np.errstate(over="ignore"):
        if not math.isfinite(residuals @ residuals):
            return Ratio(value, None, None, "none", top, bottom, n_groups)
    robust = mean_of_numbered_clusters(residuals, codes, n_groups)
    if robust.se is None or robust.df is None or value == 0:
        return Ratio(value, robust.se, None, "none", top, bottom, n_groups)
    root = math.sqrt(value)
    half = critical_t(confidence, robust.df) * robust.se / (2 * root)
    interval = Interval(max(0.0, root - half) ** 2, (root + half) ** 2)
    return Ratio(value, robust.se, interval, "sqrt-ratio-t", top, bottom, n_groups)


def share_overlapping_time(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Vector:
    """Return the time (n,) that each interval is charged with, in the unit of the arguments.

    While k intervals are active, each is charged with 1/k of that time. The results add up to the time in which
    any interval is active; pauses between intervals do not count.

    Raises:
        ValueError: If lengths differ, or an end precedes its start.
    """
    require_same_length("starts", starts.size, "ends", ends.size)
    if (ends < starts).any():
        raise ValueError("an interval ends before it starts")
    if not starts.size:
        return np.zeros(0)
    moments = np.concatenate([starts, ends])
    moments.sort()
    begun, ended = np.sort(starts), np.sort(ends)
    elapsed = np.zeros(moments.size)
    for part in _parts(moments.size - 1):
        at = moments[part]
        under_way = np.searchsorted(begun, at, side="right") - np.searchsorted(ended, at, side="right")
        lengths = (moments[part.start + 1 : part.stop + 1] - at).astype(np.float64)
        np.divide(lengths, under_way, out=elapsed[part.start + 1 : part.stop + 1], where=under_way > 0)
    np.cumsum(elapsed, out=elapsed)
    shares = np.empty(starts.size)
    for part in _parts(starts.size):
        shares[part] = elapsed[np.searchsorted(moments, ends[part])]
        shares[part] -= elapsed[np.searchsorted(moments, starts[part])]
    return shares


def _parts(size: int) -> Iterator[slice]:
    """Yield slices that together cover an array of this size. They keep the temporary arrays of each step small."""
    for start in range(0, size, VALUES_PER_BLOCK):
        yield slice(start, min(start + VALUES_PER_BLOCK, size))
