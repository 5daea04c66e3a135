"""The mean of scores, with the interval that suits them.

Repeats of a sample are not further samples: they are averaged per sample first, and the error is computed
over samples. Counting n * K values as independent makes intervals too narrow by up to sqrt(K).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, NamedTuple, cast

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import (
    CodeVector,
    Vector,
    are_binary,
    exact_mean,
    exact_sum,
    label_codes,
    require_same_length,
    sample_std,
    sum_by_code,
    to_vector,
)
from benchwright.stats.clusters import (
    ClusteredMean,
    effective_sample_size,
    group_codes,
    mean_of_independent_values,
    mean_of_numbered_clusters,
)
from benchwright.stats.intervals import Interval, equal_values_interval, t_interval, wilson_interval

IntervalMethod = Literal["wilson", "wilson-effective-n", "t", "cluster-t", "bounded", "none"]


class SampleMeans(NamedTuple):
    """Mean of each sample's values over its repeats. The samples are in order of first appearance.

    `counts`: number of repeats of each sample. `variance_within_samples`: variance between repeats of a sample,
    pooled over samples; None without repeats.
    """

    samples: Sequence[Hashable]
    means: Vector
    counts: CodeVector
    variance_within_samples: float | None


class MeanEstimate(msgspec.Struct, frozen=True, omit_defaults=True):
    """Mean over samples with its error.

    `method`: how the interval was computed. `se` and `interval` are None if the data cannot support them: one
    sample, one cluster, or graded values that are all equal and have no known range. `between` and `within` are
    the two shares of the variance of one value: between samples, and between repeats of a sample. For equal
    numbers of repeats, Var(mean) = between / n_samples + within / n_values. They are None without repeats.
    `n_groups`: number of clusters of samples. `design_effect` and `icc` measure the effect of the clusters;
    they are None without clusters.
    """

    mean: float
    method: IntervalMethod
    n_samples: int
    n_values: int
    confidence: float = 0.95
    se: float | None = None
    interval: Interval | None = None
    between: float | None = None
    within: float | None = None
    n_groups: int | None = None
    design_effect: float | None = None
    icc: float | None = None


def sample_means(values: ArrayLike, samples: Iterable[Hashable]) -> SampleMeans:
    """Average the values (one per trial) of each sample over its repeats.

    `samples` has the sample of each value.

    Raises:
        ValueError: If there are no values, a value is not finite, or there is not one sample for each value.
    """
    array = to_vector(values)
    if isinstance(samples, range) and array.size == len(samples) > 0:
        return SampleMeans(samples, array, np.broadcast_to(np.intp(1), array.shape), None)
    codes, labels = label_codes(samples)
    require_same_length("values", array.size, "samples", codes.size)
    if array.size == 0:
        raise ValueError("no values: they have no mean")
    counts = np.bincount(codes, minlength=len(labels))
    means = sum_by_code(array, codes, len(labels)) / counts
    repeats = array.size - len(labels)
    residuals = array - means[codes]
    return SampleMeans(labels, means, counts, exact_sum(residuals**2) / repeats if repeats else None)


def estimate_mean(
    values: ArrayLike,
    samples: Iterable[Hashable] | None = None,
    groups: Iterable[Hashable | None] | None = None,
    *,
    binary: bool | None = None,
    value_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> MeanEstimate:
    """Return the mean of values (one per trial) over samples, with standard error and interval.

    `samples` has the sample of each value, so that repeats of a sample are recognised; None if each value is a
    sample. `groups` has the cluster (such as a passage) of each value's sample; None in it stands for a sample
    that is a cluster by itself. `groups=None`: there are no clusters. `value_range` is the least and the
    greatest possible value; None if unknown. `binary` declares that the values are 0/1. By default it is True
    if all of them are 0 or 1 and no other range is given.

    - 0/1, one repeat, no clusters: "wilson".
    - 0/1 with repeats or clusters: "wilson-effective-n", Wilson's interval for the number of independent
      samples that would have the robust error (`clusters.effective_size`). t is not a choice here. For 15
      samples, 2 repeats and p = 0.95, t covers 69 % and this interval 98 %. For 15 samples that are always
      right, t would have no width.
    - Graded: "t" over the sample means; with clusters "cluster-t" (`clusters.clustered_mean`), not the cluster
      bootstrap, whose percentiles cover less than t with few clusters and the same with many.
    - Graded with sample means that do not vary, so that t would have no width: "bounded"
      (`intervals.equal_values_interval`) for the number of samples, or for the effective number of clusters.

    Raises:
        ValueError: If there are no values, a value is not finite, values declared as binary are not 0/1, a
            value is outside the range, lengths differ, or a sample is in two clusters.
    """
    array = to_vector(values)
    sample_of = _as_sequence(range(array.size) if samples is None else samples)
    per_sample = sample_means(array, sample_of)
    if binary is None:
        binary = value_range in (None, (0.0, 1.0)) and are_binary(array)
    if binary and not are_binary(array):
        raise ValueError("binary values must all be 0 or 1")
    if groups is None:
        clustered = mean_of_independent_values(per_sample.means)
    else:
        codes, n_groups = group_codes(_groups_of_samples(sample_of, groups, per_sample.samples))
        clustered = mean_of_numbered_clusters(per_sample.means, codes, n_groups)
    result = estimate_from_clusters(
        clustered, array.size, proportion=binary, value_range=value_range, confidence=confidence
    )
    return msgspec.structs.replace(
        result, within=per_sample.variance_within_samples, between=_between(per_sample)
    )


def _as_sequence(labels: Iterable[Hashable]) -> Sequence[Hashable]:
    if isinstance(labels, range | np.ndarray):
        return cast("Sequence[Hashable]", labels)
    return list(labels)


def estimate_from_clusters(
    clustered: ClusteredMean,
    n_values: int,
    *,
    proportion: bool,
    value_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> MeanEstimate:
    """Add an interval to a mean over samples. `proportion`: True if the values are 0/1."""
    method, interval = _interval(clustered, n_values, proportion, value_range, confidence)
    return MeanEstimate(
        mean=clustered.mean,
        method=method,
        n_samples=clustered.n,
        n_values=n_values,
        confidence=confidence,
        se=clustered.se,
        interval=interval,
        n_groups=clustered.n_groups if clustered.has_clusters else None,
        design_effect=clustered.design_effect if clustered.has_clusters else None,
        icc=clustered.icc if clustered.has_clusters else None,
    )


def _groups_of_samples(
    sample_of: Sequence[Hashable], groups: Iterable[Hashable | None], samples: Sequence[Hashable]
) -> list[Hashable | None]:
    """Return the cluster of each sample, from the cluster of each value.

    Raises:
        ValueError: If values of one sample are in different clusters.
    """
    listed = list(groups)
    require_same_length("samples", len(sample_of), "groups", len(listed))
    group_of = dict(zip(sample_of, listed, strict=True))
    for sample, group in zip(sample_of, listed, strict=True):
        if group_of[sample] != group:
            raise ValueError(f"sample {sample!r} is in two groups: {group!r} and {group_of[sample]!r}")
    return [group_of[sample] for sample in samples]


def _interval(
    clustered: ClusteredMean,
    n_values: int,
    proportion: bool,
    value_range: tuple[float, float] | None,
    confidence: float,
) -> tuple[IntervalMethod, Interval | None]:
    mean, se, df = clustered.mean, clustered.se, clustered.df
    if proportion and not clustered.has_clusters and n_values == clustered.n:
        return "wilson", wilson_interval(mean * n_values, n_values, confidence)
    if se is None or df is None:
        return "none", None
    if proportion:
        independent = mean * (1 - mean) / n_values
        n = effective_sample_size(n_values, clustered.n_groups, independent, se**2, df, confidence)
        return "wilson-effective-n", wilson_interval(mean * n, n, confidence)
    if se == 0:
        if value_range is None:
            return "none", None
        return "bounded", equal_values_interval(mean, df + 1, value_range, confidence)
    return "cluster-t" if clustered.has_clusters else "t", t_interval(mean, se, df, confidence)


def _between(per_sample: SampleMeans) -> float | None:
    """Return the variance between samples: the variance of their means minus the variance that repeats
    contribute to it.

    Return None without repeats, or with fewer than two samples.
    """
    if per_sample.variance_within_samples is None or len(per_sample.samples) < 2:
        return None
    noise = per_sample.variance_within_samples * exact_mean(1 / per_sample.counts)
    return max(0.0, sample_std(per_sample.means) ** 2 - noise)
