"""Tests of whether A is better than B on the same samples.

A paired difference removes the difficulty of the samples, which is most of the variance: Miller (2024), arXiv
2411.00640. With repeats, average each side per sample first (`score_means.sample_means`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import (
    Vector,
    are_binary,
    exact_mean,
    exact_sum,
    require_same_length,
    sample_std,
    to_vector,
)
from benchwright.stats.clusters import ClusteredMean, group_codes, mean_of_numbered_clusters
from benchwright.stats.distributions import binomial_cdf, t_cdf
from benchwright.stats.intervals import Interval, critical_z, t_interval
from benchwright.stats.score_means import SampleMeans

PairedIntervalMethod = Literal["t", "cluster-t", "agresti-min", "none"]
PairedTest = Literal["t", "cluster-t", "mcnemar-mid-p", "sign", "none"]


class PairedDifference(msgspec.Struct, frozen=True, omit_defaults=True):
    """Mean of a - b over n samples. `wins`: number of samples with a > b.

    `method`: how the interval was computed. `test`: the test that gave the two-sided p-value. The interval or
    the p-value is None if the data cannot support it. `sd`: standard deviation of the difference per sample, an
    argument of `power.minimum_detectable_effect`. `n_groups`: number of clusters of samples.
    """

    mean_a: float
    mean_b: float
    difference: float
    n: int
    wins: int
    losses: int
    ties: int
    method: PairedIntervalMethod
    test: PairedTest
    confidence: float = 0.95
    se: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    sd: float | None = None
    correlation: float | None = None
    n_groups: int | None = None
    design_effect: float | None = None


class MatchedPairs(NamedTuple):
    """The samples that both sides of a comparison have.

    `values_a` (n,): their values on one side. `values_b` (n,): their values on the other side.
    """

    samples: list[Hashable]
    values_a: Vector
    values_b: Vector


class McNemarPValues(NamedTuple):
    """Two-sided p-values of McNemar's test: exact, and the less conservative mid-p version."""

    exact_p_value: float
    mid_p_value: float


def match_pairs(a: SampleMeans, b: SampleMeans) -> MatchedPairs:
    """Pair the samples of two sides, in the order of `a`. Samples that only one side has are left out."""
    position = {sample: number for number, sample in enumerate(b.samples)}
    places = [(here, position[sample]) for here, sample in enumerate(a.samples) if sample in position]
    in_a, in_b = [here for here, _ in places], [there for _, there in places]
    return MatchedPairs([a.samples[here] for here in in_a], a.means[in_a], b.means[in_b])


def mcnemar_test(wins: int, losses: int) -> McNemarPValues:
    """Return p-values of the hypothesis that wins and losses among pairs of 0/1 values are equally likely.

    Ties carry no information. exact = 2 P(X <= min(wins, losses)) for X ~ Binomial(wins + losses, 1/2), at most
    1. mid-p counts the probability of the observed outcome half. Fagerland, Lydersen and Laake (2013), BMC Med.
    Res. Methodol. 13:91.

    Raises:
        ValueError: If a count is negative.
    """
    if wins < 0 or losses < 0:
        raise ValueError(f"counts cannot be negative: {wins}, {losses}")
    n, fewer = wins + losses, min(wins, losses)
    below, up_to = binomial_cdf(fewer - 1, n, 0.5), binomial_cdf(fewer, n, 0.5)
    return McNemarPValues(exact_p_value=min(1.0, 2 * up_to), mid_p_value=min(1.0, below + up_to))


def agresti_min_interval(wins: int, losses: int, n: int, confidence: float = 0.95) -> Interval:
    """Return the interval of (wins - losses) / n over n pairs of 0/1 values: Agresti and Min (2005), Stat.

    Med. 24:729. It is the normal interval after adding half a pair to each of the four outcomes.

    Raises:
        ValueError: If a count is negative, or there are more wins and losses than pairs.
    """
    if wins < 0 or losses < 0 or wins + losses > n:
        raise ValueError(f"counts do not fit: {wins} wins and {losses} losses of {n} pairs")
    difference = (wins - losses) / (n + 2)
    variance = ((wins + losses + 1) / (n + 2) - difference**2) / (n + 2)
    half = critical_z(confidence) * math.sqrt(variance)
    return Interval(max(-1.0, difference - half), min(1.0, difference + half))


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    groups: Iterable[Hashable | None] | None = None,
    *,
    confidence: float = 0.95,
) -> PairedDifference:
    """Return the mean difference a - b of two conditions on the same n samples.

    `a` and `b` have one value per sample. `groups` (n,) are the clusters of the samples (such as passages);
    None for a sample that is a cluster by itself.

    - 0/1 on both sides, no clusters: `agresti_min_interval` and McNemar's mid-p. A t interval is too narrow if
      few pairs differ, and has no width if no pair differs.
    - Graded scores, scores averaged over repeats, or clusters: t over the differences, cluster-robust if there
      are clusters.
    - All differences equal: t has no denominator, so there is no interval. The p-value is from the sign test
      over clusters (or samples), 2^(1 - clusters), or 1 if a equals b.

    Raises:
        ValueError: If there are no pairs, lengths differ, or a value is not finite.
    """
    left, right = to_vector(a, "a"), to_vector(b, "b")
    require_same_length("a", left.size, "b", right.size)
    differences = left - right
    codes, n_groups = (np.arange(left.size), left.size) if groups is None else group_codes(groups)
    require_same_length("pairs", left.size, "groups", codes.size)
    robust = mean_of_numbered_clusters(differences, codes, n_groups)
    binary = are_binary(left) and are_binary(right)
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    method, interval = _interval(robust, wins, losses, binary, confidence)
    test, p_value = _test(robust, wins, losses, binary)
    return PairedDifference(
        mean_a=exact_mean(left),
        mean_b=exact_mean(right),
        difference=robust.mean,
        n=left.size,
        wins=wins,
        losses=losses,
        ties=left.size - wins - losses,
        method=method,
        test=test,
        confidence=confidence,
        se=robust.se,
        interval=interval,
        p_value=p_value,
        sd=sample_std(differences) if left.size > 1 else None,
        correlation=_correlation(left, right),
        n_groups=n_groups if robust.has_clusters else None,
        design_effect=robust.design_effect if robust.has_clusters else None,
    )


def _interval(
    robust: ClusteredMean, wins: int, losses: int, binary: bool, confidence: float
) -> tuple[PairedIntervalMethod, Interval | None]:
    if robust.se is None or robust.df is None:
        return "none", None
    if binary and not robust.has_clusters:
        return "agresti-min", agresti_min_interval(wins, losses, robust.n, confidence)
    if robust.se == 0:
        return "none", None
    return "cluster-t" if robust.has_clusters else "t", t_interval(
        robust.mean, robust.se, robust.df, confidence
    )


def _test(robust: ClusteredMean, wins: int, losses: int, binary: bool) -> tuple[PairedTest, float | None]:
    if binary and not robust.has_clusters:
        return "mcnemar-mid-p", mcnemar_test(wins, losses).mid_p_value
    if robust.se is None or robust.df is None:
        return "none", None
    if robust.se == 0:
        return "sign", 1.0 if robust.mean == 0 else 2.0 ** (1 - robust.n_groups)
    return "cluster-t" if robust.has_clusters else "t", 2 * t_cdf(-abs(robust.mean / robust.se), robust.df)


def _correlation(a: Vector, b: Vector) -> float | None:
    """Return Pearson's correlation. None if the values of one side do not vary."""
    if a.size < 2:
        return None
    sd_a, sd_b = sample_std(a), sample_std(b)
    if sd_a == 0 or sd_b == 0:
        return None
    covariance = exact_sum((a - exact_mean(a)) * (b - exact_mean(b))) / (a.size - 1)
    return max(-1.0, min(1.0, covariance / (sd_a * sd_b)))
