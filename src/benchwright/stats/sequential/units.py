"""What is drawn at random: groups of samples, and samples whose value is not known."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.stats.arrays import Vector, same_length, sum_by_code, vector
from benchwright.stats.clusters import group_codes


class Units(NamedTuple):
    """The mean difference (g,) of each group, and how many samples it has (g,)."""

    means: Vector
    sizes: Vector


class Scaled(NamedTuple):
    """Values (g,) whose mean over a whole list is the mean over all its samples, and their bounds."""

    values: Vector
    bounds: tuple[float, float]


def grouped(differences: ArrayLike, groups: Iterable[Hashable | None]) -> Units:
    """Groups as units, in the order of first appearance; a sample in no group (None) is a unit of its own.

    Only whole groups are units: which of its samples come first may have to do with their values. What is then asked:

    - the mean over groups: `RunningInterval` of `means`;
    - the mean over samples that might be drawn: the same with the weights sizes / largest possible size, so that the
      estimate is a ratio with bounded parts;
    - the mean over the samples of a finite list: `of_list`.

    Raises:
        ValueError: not one group for each difference.
    """
    values = vector(differences, "differences")
    codes, n_groups = group_codes(list(groups))
    same_length("differences", values.size, "groups", codes.size)
    sizes = np.bincount(codes, minlength=n_groups).astype(np.float64)
    means = sum_by_code(values, codes, n_groups) / sizes
    order = np.argsort(np.unique(codes, return_index=True)[1], kind="stable")
    return Units(means[order], sizes[order])


def of_list(
    means: ArrayLike,
    sizes: ArrayLike,
    mean_size: float,
    largest: float,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Scaled:
    """Units of a finite list of groups (g,) whose `mean_size` and `largest` size are known: means * size / mean_size.

    Raises:
        ValueError: a mean size that is not above 0, or lengths that differ.
    """
    values, numbers = vector(means, "means"), vector(sizes, "sizes")
    same_length("means", values.size, "sizes", numbers.size)
    if mean_size <= 0:
        raise ValueError(f"the mean size must be above 0: {mean_size}")
    most = largest / mean_size
    return Scaled(values * numbers / mean_size, (min(0.0, bounds[0]) * most, max(0.0, bounds[1]) * most))


def worst_cases(
    new: ArrayLike,
    old: ArrayLike,
    new_known: NDArray[np.bool_],
    old_known: NDArray[np.bool_],
    score_range: tuple[float, float] = (0.0, 1.0),
) -> tuple[Vector, Vector]:
    """The least and the most (n,) that new - old can be, where failures left a side without a score.

    A score that is not known (whatever number stands there) may be anything in the range. An interval
    whose low end is made of the least and whose high end of the most holds whatever the failures would have scored.

    Raises:
        ValueError: lengths that differ.
    """
    a, b = vector(new, "new"), vector(old, "old")
    for name, other in (("old", b), ("new_known", new_known), ("old_known", old_known)):
        same_length("new", a.size, name, other.size)
    low, high = score_range
    least = np.where(new_known, a, low) - np.where(old_known, b, high)
    most = np.where(new_known, a, high) - np.where(old_known, b, low)
    return least, most
