"""Histogram of durations in logarithmic buckets: small, mergeable, and fast enough to update for every token.

A histogram is a plain `{bucket: count}`. Each duration below 16 ns has its own bucket. From 16 ns on, the range
between two powers of two is split into 8 buckets of equal width, so that a bucket is at most 12.5 % wide
(log-linear buckets, as in HdrHistogram). The module uses only Python integers, because the code that stamps
tokens imports it.
"""

from __future__ import annotations

from collections.abc import Mapping


def bucket_of(ns: int) -> int:
    """Return the number of the bucket that contains a duration in nanoseconds.

    Raises:
        ValueError: If the duration is negative.
    """
    if ns < 16:
        if ns < 0:
            raise ValueError(f"a duration cannot be negative: {ns} ns")
        return ns
    shift = ns.bit_length() - 4
    return (shift << 3) + (ns >> shift)


def bucket_bounds(bucket: int) -> tuple[int, int]:
    """Return the range (low, high) of the durations in a bucket, in nanoseconds: low <= ns < high.

    Raises:
        ValueError: If there is no such bucket.
    """
    if bucket < 16:
        if bucket < 0:
            raise ValueError(f"there is no bucket {bucket}")
        return bucket, bucket + 1
    shift = (bucket >> 3) - 1
    low = (8 | bucket & 7) << shift
    return low, low + (1 << shift)


def quantile(histogram: Mapping[int, int], q: float) -> float:
    """Return the q-quantile in nanoseconds, interpolated as numpy.percentile does by default ("linear").

    The durations of a bucket are assumed to be spread evenly over the bucket. The error is less than the width
    of a bucket, 12.5 %.

    Raises:
        ValueError: If the histogram is empty, or q is outside [0, 1].
    """
    counts = sorted((each, count) for each, count in histogram.items() if count)
    if not counts:
        raise ValueError("an empty histogram has no quantiles")
    if not 0 <= q <= 1:
        raise ValueError(f"a quantile lies between 0 and 1: {q}")
    position = q * (sum(count for _, count in counts) - 1)
    below = int(position)
    low = _ordered(counts, below)
    if position == below:
        return low
    return low + (position - below) * (_ordered(counts, below + 1) - low)


def cumulative_points(histogram: Mapping[int, int]) -> list[tuple[float, float]]:
    """Return points (nanoseconds, share of shorter durations) of the cumulative distribution, from share 0 to
    share 1.

    Both numbers rise from point to point. The durations of a bucket are assumed to be spread evenly over the
    bucket, so straight lines join the points. Neighbouring buckets share a point, so there are at most two
    points for each bucket.

    Raises:
        ValueError: If the histogram is empty.
    """
    counts = sorted((each, count) for each, count in histogram.items() if count)
    if not counts:
        raise ValueError("an empty histogram has no shares")
    total, reached = sum(count for _, count in counts), 0
    points: list[tuple[float, float]] = []
    for each, count in counts:
        low, high = bucket_bounds(each)
        if not points or points[-1][0] < low:
            points.append((float(low), reached / total))
        reached += count
        points.append((float(high), reached / total))
    return points


def _ordered(counts: list[tuple[int, int]], rank: int) -> float:
    """Return the duration (ns) at a rank, counted from 0.

    `counts` has (bucket, number of durations), sorted by bucket.
    """
    for each, count in counts:
        if rank < count:
            low, high = bucket_bounds(each)
            return low + (high - 1 - low) * (rank + 0.5) / count
        rank -= count
    raise AssertionError("a rank beyond the last duration")
