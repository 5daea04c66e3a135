"""The mean of several independent means: of strata, or of tasks with equal weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchwright.stats.arrays import exact_mean, to_vector
from benchwright.stats.clusters import ClusteredMean
from benchwright.stats.distributions import t_cdf
from benchwright.stats.intervals import Interval, t_interval


class StratifiedMean(NamedTuple):
    """Unweighted mean of the means of strata.

    `se`, `interval` and the two-sided `p_value` are None if the values do not vary in any stratum.
    """

    mean: float
    se: float | None
    interval: Interval | None
    p_value: float | None


def mean_of_strata(strata: Sequence[ClusteredMean], confidence: float = 0.95) -> StratifiedMean:
    """Return the unweighted mean of T independent means, tested against 0.

    With v_t the squared standard error of stratum t, se^2 = sum(v_t) / T^2 (Cochran 1977, section 5.3, with
    equal weights). Student's t has sum(v_t)^2 / sum(v_t^2 / df_t) degrees of freedom (Satterthwaite 1946).

    Raises:
        ValueError: If there are no strata, or the standard error of a stratum is not known.
    """
    means = to_vector([one.mean for one in strata], "strata")
    mean = exact_mean(means)
    known = [(one.se**2, one.df) for one in strata if one.se is not None and one.df is not None]
    if len(known) < len(strata):
        raise ValueError("a stratum of a single value has no standard error")
    variance = sum(part for part, _ in known)
    if variance == 0:
        return StratifiedMean(mean, None, None, None)
    se = variance**0.5 / len(strata)
    df = variance**2 / sum(part**2 / df for part, df in known)
    return StratifiedMean(mean, se, t_interval(mean, se, df, confidence), 2 * t_cdf(-abs(mean / se), df))
