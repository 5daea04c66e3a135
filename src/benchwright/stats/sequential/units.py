"""Units of a sequential test, the items that are drawn at random: samples, or clusters of samples."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import Vector, require_same_length, sum_by_code, to_vector
from benchwright.stats.clusters import group_codes


class UnitMeans(NamedTuple):
    """Mean difference and size of each of g units. A unit is a sample or a cluster of samples.

    `means` (g,): mean difference of each unit. `sizes` (g,): number of samples of each unit.
    """

    means: Vector
    sizes: Vector


def group_units(differences: ArrayLike, groups: Iterable[Hashable | None]) -> UnitMeans:
    """Group samples into units, in order of first appearance: one unit per cluster (`groups`).

    A sample without a cluster (None) is a unit by itself. A cluster is never split, because the order of its
    samples may depend on their values. A `ConfidenceSequence` of `means` estimates the mean over clusters. If
    each unit has the weight size / largest possible size, it estimates the mean over samples, as a ratio of
    two bounded means.

    Raises:
        ValueError: If there is not one cluster label for each difference.
    """
    values = to_vector(differences, "differences")
    codes, n_groups = group_codes(list(groups))
    require_same_length("differences", values.size, "groups", codes.size)
    sizes = np.bincount(codes, minlength=n_groups).astype(np.float64)
    means = sum_by_code(values, codes, n_groups) / sizes
    order = np.argsort(np.unique(codes, return_index=True)[1], kind="stable")
    return UnitMeans(means[order], sizes[order])
