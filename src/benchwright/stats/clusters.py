"""Means of values in clusters (`groups`), such as questions on one passage or tasks of one repository.

Values of a cluster are alike, so n clustered values carry less information than n independent ones. All
standard errors here are computed over clusters, as in Miller (2024), arXiv 2411.00640, appendix A, and with the
correction for few clusters.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.stats.arrays import (
    CodeVector,
    Vector,
    exact_mean,
    exact_sum,
    label_codes,
    require_same_length,
    sample_std,
    sum_by_code,
    to_vector,
)
from benchwright.stats.intervals import critical_t, critical_z


class ClusteredMean(NamedTuple):
    """Mean with its cluster-robust standard error.

    `se` and `df` (degrees of freedom) are None if there is only one cluster. `design_effect`: variance of the
    mean divided by the variance that it would have for independent values. `icc`: intraclass correlation, the
    share of the variance that lies between clusters. `design_effect` and `icc` are None if undefined.
    """

    mean: float
    se: float | None
    df: float | None
    n: int
    n_groups: int
    design_effect: float | None
    icc: float | None

    @property
    def has_clusters(self) -> bool:
        """True if any two values share a cluster."""
        return self.n_groups < self.n


def group_codes(groups: Iterable[Hashable | None]) -> tuple[CodeVector, int]:
    """Number the clusters from 0. Return (number of each value's cluster, number of clusters).

    Each None is a cluster by itself. An array of small whole numbers is not sorted: its clusters are numbered
    in ascending order of these numbers.
    """
    if isinstance(groups, np.ndarray) and _are_small_numbers(groups):
        number = np.cumsum(np.bincount(groups) > 0, dtype=np.intp) - 1
        return number[groups], int(number[-1]) + 1
    codes, labels = label_codes(groups)
    if not isinstance(labels, list) or None not in labels:
        return codes, len(labels)
    alone = codes == labels.index(None)
    codes[alone] = len(labels) + np.arange(np.count_nonzero(alone))
    distinct, codes = np.unique(codes, return_inverse=True)
    return codes, distinct.size


def _are_small_numbers(groups: NDArray[Any]) -> bool:
    whole = groups.size > 0 and groups.dtype.kind in "iu"
    return whole and groups.min() >= 0 and int(groups.max()) < 4 * groups.size


def clustered_mean(values: ArrayLike, groups: Iterable[Hashable | None]) -> ClusteredMean:
    """Return the mean of n values in C clusters, with a standard error robust to dependence within clusters.

    With T_g the sum of the residuals in cluster g, Var = C / (C - 1) * sum(T_g^2) / n^2 (Liang and Zeger 1986;
    Miller 2024, appendix A, with the factor C / (C - 1) for few clusters). There are G - 1 degrees of freedom,
    with G = n^2 / sum(n_g^2) the effective number of clusters (Carter, Schnepel and Steigerwald 2017). For
    clusters of equal size, that is C - 1. For unequal ones it is less; their intervals would cover too little
    with C - 1.

    Raises:
        ValueError: If there are no values, a value is not finite, or there is not one cluster label for each
            value.
    """
    array = to_vector(values)
    codes, n_groups = group_codes(groups)
    require_same_length("values", array.size, "groups", codes.size)
    return mean_of_numbered_clusters(array, codes, n_groups)


def mean_of_independent_values(values: Vector) -> ClusteredMean:
    """Return `clustered_mean` of values that are each a cluster: the ordinary standard error with n - 1
    degrees of freedom.
    """
    n, mean = values.size, exact_mean(values)
    if n < 2:
        return ClusteredMean(mean, None, None, n, n, None, None)
    deviation = sample_std(values)
    effect = 1.0 if deviation else None
    return ClusteredMean(mean, deviation / math.sqrt(n), max(n - 1.0, 1.0), n, n, effect, None)


def mean_of_numbered_clusters(values: Vector, codes: CodeVector, n_groups: int) -> ClusteredMean:
    """Return `clustered_mean` for clusters that are already numbered.

    `codes` (n,) has the number of each value's cluster.
    """
    n = values.size
    if n == 0:
        raise ValueError("no values: they have no mean")
    if n_groups == n:
        return mean_of_independent_values(values)
    mean = exact_mean(values)
    if n_groups < 2:
        return ClusteredMean(mean, None, None, n, n_groups, None, None)
    sizes = np.bincount(codes, minlength=n_groups)
    residuals = sum_by_code(values - mean, codes, n_groups)
    deviation = sample_std(values)
    variance = n_groups / (n_groups - 1) * exact_sum(residuals**2) / n**2 if deviation else 0.0
    effective_groups = n**2 / float(sizes @ sizes)
    return ClusteredMean(
        mean,
        se=math.sqrt(variance),
        df=max(effective_groups - 1, 1.0),
        n=n,
        n_groups=n_groups,
        design_effect=variance / (deviation**2 / n) if deviation else None,
        icc=_intraclass_correlation(values - mean, residuals, sizes) if deviation and n > n_groups else None,
    )


def _intraclass_correlation(centred: Vector, sums: Vector, sizes: CodeVector) -> float:
    """Return the analysis-of-variance estimate of the intraclass correlation, Donner (1986).

    For clusters of unequal size n_g: (MSB - MSW) / (MSB + (n_0 - 1) MSW) with n_0 = (n - sum(n_g^2) / n) / (C
    - 1). `centred` (n,) are the values minus their mean, `sums` (C,) their sums per cluster, `sizes` (C,) the
    n_g.
    """
    n, n_groups = centred.size, sizes.size
    explained = exact_sum(sums**2 / sizes)
    between = explained / (n_groups - 1)
    within = max(exact_sum(centred**2) - explained, 0.0) / (n - n_groups)
    typical_size = (n - float(sizes @ sizes) / n) / (n_groups - 1)
    return (between - within) / (between + (typical_size - 1) * within)


def effective_sample_size(
    n: int, n_units: int, independent: float, actual: float, df: float, confidence: float
) -> float:
    """Return the number of independent 0/1 values with as much information as these n dependent ones.

    `independent`: the variance that the mean of n independent values would have. `actual`: the estimated
    variance of the mean. n is multiplied by independent / actual, at most 1, and by (z / t)^2 for the
    uncertainty of the estimate itself: Korn and Graubard (1998), "Confidence intervals for proportions with
    small expected number of positive counts estimated from survey data". Values that do not vary carry no
    information about their dependence. The result is then based on `n_units`, the number of clusters (or of
    samples, if the samples are independent).
    """
    adjustment = (critical_z(confidence) / critical_t(confidence, df)) ** 2
    if independent == 0:
        return n_units * adjustment
    return n * min(1.0, independent / actual if actual > 0 else 1.0) * adjustment
