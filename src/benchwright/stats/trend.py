"""Test of whether a score rises or falls with a setting (such as the concurrency), over the same samples."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import to_vector
from benchwright.stats.intervals import Interval
from benchwright.stats.paired_tests import PairedIntervalMethod, PairedTest, paired_difference


class PairedTrend(NamedTuple):
    """Mean change of the values per unit of the setting, over n samples."""

    slope: float
    interval: Interval | None
    p_value: float | None
    method: PairedIntervalMethod
    test: PairedTest
    n: int


def paired_trend(
    values: ArrayLike,
    setting: ArrayLike,
    groups: Iterable[Hashable | None] | None = None,
    *,
    confidence: float = 0.95,
) -> PairedTrend:
    """Return the straight-line trend of values (n, k): n samples, each measured at the k points of `setting`.

    Each sample is reduced to one number, its trend. The trends are tested as paired differences are (Matthews,
    Altman, Campbell and Royston 1990, BMJ 300:230, "summary measures"). So neither the difficulty of samples
    nor the dependence of their values at several points matters. The weights of the k points are x - mean(x),
    so that each trend is a weighted mean of the values at high settings minus a weighted mean of the values at
    low settings. With two points, the result is the `paired_difference` of the values at the two points, with
    McNemar's test for 0/1 values. `groups` (n,): the clusters of the samples.

    Raises:
        ValueError: If there are fewer than two points, all points are equal, or the shapes do not fit.
    """
    points = to_vector(setting, "setting")
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != points.size:
        raise ValueError(f"values must be of shape (n, {points.size}), not {table.shape}")
    if points.size < 2 or points.min() == points.max():
        raise ValueError("a trend needs two different points of the setting")
    weights = points - points.mean()
    weights /= weights[weights > 0].sum()
    high, low = np.maximum(weights, 0.0), np.maximum(-weights, 0.0)
    found = paired_difference(
        (table * high).sum(axis=1), (table * low).sum(axis=1), groups, confidence=confidence
    )
    distance = float(weights @ points)
    interval = found.interval
    return PairedTrend(
        slope=found.difference / distance,
        interval=None if interval is None else Interval(interval.low / distance, interval.high / distance),
        p_value=found.p_value,
        method=found.method,
        test=found.test,
        n=found.n,
    )
