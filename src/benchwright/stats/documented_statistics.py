"""Statistics of a score in the form that osmosis_ai documents for its result files.

In these statistics, a failed or unscored run counts as 0. In this module, a run is one trial of a sample.
Sums are exact, so the order of the runs does not matter.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.stats.arrays import exact_mean, exact_std
from benchwright.stats.passk import K_VALUES, pass_at_k


class SampleRunCounts(NamedTuple):
    """Numbers of runs of each sample.

    `run_counts` (samples,): number of runs. `pass_counts` (samples,): number of runs that passed.
    """

    run_counts: NDArray[np.intp]
    pass_counts: NDArray[np.intp]


NO_RUN_COUNTS = SampleRunCounts(np.zeros(0, np.intp), np.zeros(0, np.intp))


class DocumentedStatistics(NamedTuple):
    """Mean, population standard deviation, extremes, and pass@k for each k. All are 0 if there are no runs.

    `pass_samples` maps k to the number of samples that have k runs or more: pass@k is the mean over these
    samples.
    """

    mean: float
    std: float
    min: float
    max: float
    pass_at: dict[int, float]
    pass_samples: dict[int, int]


def documented_statistics(
    values: ArrayLike, tries: SampleRunCounts = NO_RUN_COUNTS, repeats: int = 1
) -> DocumentedStatistics:
    """Return the documented statistics of one score.

    `values` (n,) are the scores of all runs that were made, with 0 for an unscored run. pass@k is computed for
    each documented k up to `repeats`. It is not computed if there are no repeats.
    """
    array = np.asarray(values, np.float64)
    if not array.size:
        return DocumentedStatistics(0.0, 0.0, 0.0, 0.0, {}, {})
    mean, std = exact_mean(array), exact_std(array)
    found = mean_pass_at(tries, repeats)
    return DocumentedStatistics(
        mean,
        std,
        float(array.min()),
        float(array.max()),
        {k: one.mean for k, one in found.items()},
        {k: one.samples for k, one in found.items()},
    )


def count_runs_by_sample(samples: ArrayLike, passed: ArrayLike) -> SampleRunCounts:
    """Return the number of runs of each sample and the number of its runs that passed.

    `samples` (n,): the sample of each run. `passed` (n,): True for the runs that passed.
    """
    distinct, place = np.unique(np.asarray(samples), return_inverse=True)
    return SampleRunCounts(
        np.bincount(place, minlength=len(distinct)),
        np.bincount(place[np.asarray(passed, np.bool_)], minlength=len(distinct)),
    )


class MeanPassAt(NamedTuple):
    """pass@k averaged over samples. `samples`: number of samples."""

    mean: float
    samples: int


def mean_pass_at(tries: SampleRunCounts, repeats: int) -> dict[int, MeanPassAt]:
    """Return {k: pass@k} for the documented values of k (`passk.K_VALUES`), averaged over samples.

    pass@k for one k is averaged over the samples that have at least k runs. A sample's pass@k counts c passes
    among the n runs that were made (Chen et al. 2021, eq. 1): a missing run is neither a pass nor a failure.
    The result is empty if there are no repeats. It omits each k for which no sample has enough runs.
    """
    if repeats < 2:
        return {}
    samples = Counter(zip(tries.run_counts.tolist(), tries.pass_counts.tolist(), strict=True))
    found = {}
    for k in K_VALUES:
        enough = [(n, c, number) for (n, c), number in samples.items() if n >= k]
        count = sum(number for _, _, number in enough)
        if k <= repeats and count:
            total = math.fsum(number * pass_at_k(n, c, k) for n, c, number in enough)
            found[k] = MeanPassAt(total / count, count)
    return found
