"""Differences between the percentiles of the request times of two runs."""

from __future__ import annotations

import math
from typing import Literal

from benchwright.analysis.comparison.comparability import latency_refusal_reason
from benchwright.analysis.comparison.records import LatencyComparison
from benchwright.analysis.comparison.sides import Side
from benchwright.stats.arrays import Vector
from benchwright.stats.interval_differences import IntervalEstimate
from benchwright.stats.interval_differences import difference_interval as recovered
from benchwright.stats.intervals import Interval
from benchwright.stats.percentiles import percentile, percentile_interval

QUANTILES = (0.5, 0.95, 0.99)

LatencyMetric = Literal["ttft", "latency"]
LATENCY_METRICS: tuple[LatencyMetric, ...] = ("ttft", "latency")


def compare_latencies(a: Side, b: Side, confidence: float) -> tuple[list[LatencyComparison], str | None]:
    """Return the differences of every percentile for which both sides have request times.

    The second value is the reason why there are no differences. It is None if there are some.
    """
    reason = latency_refusal_reason(a.facts, b.facts)
    if reason is not None:
        return [], reason
    found = []
    for metric in LATENCY_METRICS:
        times_a, times_b = a.timings.get(metric), b.timings.get(metric)
        if times_a is not None and times_b is not None and times_a.size and times_b.size:
            found += [_compare(metric, q, times_a, times_b, confidence) for q in QUANTILES]
    return found, None if found else "request times are missing on one side"


def _compare(metric: LatencyMetric, q: float, a: Vector, b: Vector, confidence: float) -> LatencyComparison:
    interval = quantile_difference_interval(a, b, q, confidence)
    at_a, at_b = percentile(a, q), percentile(b, q)
    return LatencyComparison(
        metric=metric,
        q=q,
        a=at_a,
        b=at_b,
        difference=at_b - at_a,
        n_a=a.size,
        n_b=b.size,
        low=interval.low if math.isfinite(interval.low) else None,
        high=interval.high if math.isfinite(interval.high) else None,
    )


def quantile_difference_interval(a: Vector, b: Vector, q: float, confidence: float) -> Interval:
    """Return the interval of the q-quantile of b (n_b,) minus the q-quantile of a (n_a,).

    The sides are independent samples. Their order-statistic intervals are combined as in `stats.interval_differences`.

    Raises:
        ValueError: If a side has no values.
    """
    known_a, known_b = (
        IntervalEstimate(percentile(one, q), *percentile_interval(one, q, confidence)) for one in (a, b)
    )
    return recovered(known_a, known_b)
