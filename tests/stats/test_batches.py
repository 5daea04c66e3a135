"""Intervals of values that depend on each other: how often they hold, where the truth is known."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.signal import lfilter

from benchwright.stats.arrays import Vector
from benchwright.stats.batch_means import (
    effective_series_size,
    long_run_variance,
    mean_interval,
    percentile_interval,
)
from benchwright.stats.percentiles import percentile_interval as of_independent_values

SERIES = 300


def autoregression(generator: np.random.Generator, size: int, memory: float) -> Vector:
    """Normal values of mean 0 and variance 1, each of which remembers the one before."""
    shocks = generator.normal(0, math.sqrt(1 - memory**2), size + 200)
    values: Vector = lfilter([1.0], [1.0, -memory], shocks)[200:]
    return values


def closed_loop(generator: np.random.Generator, size: int) -> Vector:
    """Latencies of a server of 8 slots that 32 requests in flight keep full; those of the ramp-up are left out."""
    services = generator.gamma(4.0, 0.05, size + 64)
    free, ready = [0.0] * 8, [0.0] * 32
    taken = np.empty(size + 64)
    for place, service in enumerate(services.tolist()):
        asked = heapq.heappop(ready)
        end = max(asked, heapq.heappop(free)) + service
        heapq.heappush(free, end)
        heapq.heappush(ready, end)
        taken[place] = end - asked
    return taken[64:]


def held(draw: Callable[[np.random.Generator], Vector], truth: float, q: float | None = None) -> float:
    """The share of series whose interval, of the mean or of a quantile, holds the truth."""
    generator = np.random.default_rng(3)
    hits = 0
    for _ in range(SERIES):
        values = draw(generator)
        low, high = mean_interval(values) if q is None else percentile_interval(values, q)
        hits += low <= truth <= high
    return hits / SERIES


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_intervals_of_the_mean_hold_however_much_values_remember(memory: float) -> None:
    assert held(lambda generator: autoregression(generator, 1600, memory), 0.0) >= 0.92


@pytest.mark.parametrize(("q", "truth"), [(0.5, 0.0), (0.9, 1.28155), (0.99, 2.32635)])
def test_those_of_percentiles_hold_too(q: float, truth: float) -> None:
    assert held(lambda generator: autoregression(generator, 1600, 0.8), truth, q) >= 0.92


def test_they_hold_for_the_latency_of_a_server_kept_full() -> None:
    """By Little's law 32 requests in flight at 8 slots of 0.2 s take 0.8 s."""
    assert held(lambda generator: closed_loop(generator, 800), 0.8) >= 0.92


def test_intervals_that_take_values_for_independent_do_not() -> None:
    """What the batches are for: the plain interval misses far more often."""
    generator = np.random.default_rng(5)
    hits = sum(
        low <= 0.0 <= high
        for low, high in (
            of_independent_values(autoregression(generator, 1600, 0.8), 0.5) for _ in range(SERIES)
        )
    )
    assert hits / SERIES < 0.7


def test_independent_values_are_worth_about_their_number() -> None:
    drawn = np.random.default_rng(1).random((100, 3200)) < 0.3
    sizes = [effective_series_size(values, 0.3) for values in drawn]
    assert 1500 < float(np.median(sizes)) <= 3200


def test_few_values_are_taken_to_be_independent() -> None:
    values = np.arange(10.0)
    found = long_run_variance(values)
    assert found.df == 9
    assert found.variance == pytest.approx(float(values.var(ddof=1)))


def test_equal_values_have_no_width() -> None:
    assert mean_interval(np.full(100, 0.25)) == (0.25, 0.25)


def test_a_percentile_of_few_values_has_no_upper_end() -> None:
    low, high = percentile_interval(np.random.default_rng(2).random(300), 0.95)
    assert low < high < math.inf
    low, high = percentile_interval(np.arange(20.0), 0.9)
    assert (math.isfinite(low), high) == (True, math.inf)
    assert percentile_interval([1.0], 0.5) == (-math.inf, math.inf)


def test_long_times_in_one_episode_say_nothing_of_their_percentile() -> None:
    values = np.random.default_rng(3).random(1600)
    values[400:420] += 10
    assert percentile_interval(values, 0.99) == (-math.inf, math.inf)
    assert math.isfinite(percentile_interval(values, 0.5).high)


def test_one_value_says_nothing_of_a_variance() -> None:
    with pytest.raises(ValueError, match="one value"):
        long_run_variance([1.0])
