"""What trials cost in runs of growing size: they should cost the same in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from benchmarks.children import simulated
from benchmarks.clients import Load, ours
from benchmarks.measured import Measured

CONCURRENCY = 64
FLAT = 1.5
"""How much more memory the largest run may take than the smallest."""


class Point(NamedTuple):
    """A run of so many trials, not streamed: CPU and wall time in seconds, peak memory and journal in MB."""

    trials: int
    cpu: float
    wall: float
    memory: float
    journal: float


def points(sizes: Iterable[int]) -> Iterator[Point]:
    """A run of each size, one after another."""
    for size in sizes:
        with simulated() as endpoint:
            result = ours(Load(endpoint.base_url, size, CONCURRENCY, stream=False))
        cost = result.cost
        yield Point(size, cost.cpu, cost.wall, cost.memory, result.journal / 1e6)


def judged(measured: list[Point]) -> Iterator[Measured]:
    """Peak memory at each size, and how it grows; and what each trial more costs."""
    for point in measured:
        yield Measured(f"Peak memory, {point.trials:,} trials", "MB", point.memory, goal=100)
    yield _growth(measured[0], measured[-1])
    for small, large in pairwise(measured):
        more = (large.cpu - small.cpu) / (large.trials - small.trials)
        yield Measured(f"CPU of a trial, {small.trials:,} to {large.trials:,}", "ms", more * 1e3)


def memory(small: int, large: int) -> list[Measured]:
    """How much more memory the larger run takes."""
    return [_growth(*points((small, large)))]


def _growth(small: Point, large: Point) -> Measured:
    name = f"Peak memory, {large.trials:,} trials / {small.trials:,}"
    return Measured(name, "MB", large.memory, small.memory, goal=FLAT, compared="ratio")
