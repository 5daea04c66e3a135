"""The figures that documented files give of a score. Every run counts: one that failed, or has no score, as 0.

Sums are exact, so the order of the runs does not matter.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.stats.arrays import exact_mean, exact_std
from benchwright.stats.passk import KS, pass_at_k


class DocumentedStatistics(NamedTuple):
    """Mean, standard deviation of the population, extremes, and pass@k by k; all 0 where there are no runs."""

    mean: float
    std: float
    min: float
    max: float
    pass_at: dict[int, float]


def documented_statistics(
    values: ArrayLike, passes: ArrayLike = (), repeats: int = 1
) -> DocumentedStatistics:
    """The documented figures of one score.

    `values` (n,) are the scores of all runs, 0 where there is none. `passes` (samples,) says of each sample how many
    of its `repeats` runs passed; a run that is still missing did not. pass@k is given where there are repeats, for
    the documented k up to their number.
    """
    array = np.asarray(values, np.float64)
    if not array.size:
        return DocumentedStatistics(0.0, 0.0, 0.0, 0.0, {})
    mean, std = exact_mean(array), exact_std(array)
    return DocumentedStatistics(
        mean, std, float(array.min()), float(array.max()), mean_pass_at(passes, repeats)
    )


def passes_by_sample(samples: ArrayLike, passed: ArrayLike) -> NDArray[np.intp]:
    """How many runs of each sample passed: `samples` (n,) tells the sample of each run, `passed` (n,) which passed."""
    distinct, place = np.unique(np.asarray(samples), return_inverse=True)
    return np.bincount(place[np.asarray(passed, np.bool_)], minlength=len(distinct))


def mean_pass_at(passes: ArrayLike, repeats: int) -> dict[int, float]:
    """{k: pass@k} for the documented k, over samples of which so many runs passed; empty without repeats or samples."""
    counts = np.minimum(np.asarray(passes, np.intp), repeats)
    if repeats < 2 or not counts.size:
        return {}
    samples_with = np.bincount(counts, minlength=repeats + 1).tolist()
    return {
        k: math.fsum(number * pass_at_k(repeats, passed, k) for passed, number in enumerate(samples_with))
        / counts.size
        for k in KS
        if k <= repeats
    }
