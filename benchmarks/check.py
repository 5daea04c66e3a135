"""`python -m benchmarks --check`: has something become slow? Ratios of one run against limits, never seconds.

A limit is what is aimed at, times the headroom that a shared machine needs; docs/performance.md says why. What is
over its limit is measured again, twice at most: it counts when it is over it each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from benchmarks import scale
from benchmarks.fixed import fixed_costs, small_run
from benchmarks.measured import Measured
from benchmarks.measures import agent_trials, concurrency_cost, connections, streams, whole_answers

TRIES = 3
OPENED, STEADY, CPU, CPU_OF_STREAMS = 1.02, 1.15, 1.25, 2.0
"""Headroom: of connections, as those opened again after a break count too, of memory, of CPU time, and of that of
streams, which use little of the time they take."""


class Limit(NamedTuple):
    """A ratio that must not be exceeded: that of the line of so a name among those measured."""

    name: str
    measure: Callable[[], Iterable[Measured]]
    goal: float
    headroom: float

    @property
    def highest(self) -> float:
        """The largest ratio that passes."""
        return self.goal * self.headroom

    def ratio(self) -> float:
        """Measures it.

        Raises:
            ValueError: no line, or more than one, has the name.
        """
        (ratio,) = (measured.ratio for measured in self.measure() if measured.name == self.name)
        return ratio


LIMITS = (
    Limit("Connections opened, 512 at once and one before", lambda: connections(512), 1, OPENED),
    Limit("CPU of --help", lambda: fixed_costs(1), 6, CPU),
    Limit("CPU of list", lambda: fixed_costs(2), 4.8, CPU),
    Limit("CPU of a run of 64 trials", lambda: small_run(1), 5, CPU),
    Limit("CPU of a trial, 64 at once", lambda: whole_answers(1, 64, 1_000, 9_000), 12, CPU),
    Limit("CPU of an agent's trial, 64 at once", lambda: agent_trials(1, 64, 1_000, 6_000), 15, CPU),
    Limit("CPU of a trial, 512 at once / 1", lambda: concurrency_cost(1, 500, 3_500), 1.3, CPU),
    Limit("Peak memory, 20,000 trials / 2,000", lambda: scale.memory(2_000, 20_000), 1, STEADY),
    Limit("CPU of a chunk, 64 streams", lambda: streams(1, 64, 9, (1, 1)), 1.5, CPU_OF_STREAMS),
    Limit("CPU of a chunk, 512 streams", lambda: streams(1, 512, 3, (1, 1)), 1.5, CPU_OF_STREAMS),
)
"""Where the table's goal is in seconds, a multiple stands for it: of an interpreter that does nothing, or of the floor
client's own run. Times to first token are not here: they depend on how quiet the machine is."""


class Verdict(NamedTuple):
    """The ratios that were measured, in order. Where one was within the limit it is the last."""

    limit: Limit
    ratios: list[float]

    @property
    def passed(self) -> bool:
        """Whether one of them is within the limit."""
        return self.ratios[-1] <= self.limit.highest

    @property
    def line(self) -> str:
        """What is said about it."""
        ratios = ", then ".join(f"{ratio:.2f}" for ratio in self.ratios)
        return f"{'ok' if self.passed else 'SLOW':5}{self.limit.name:48}{ratios} (limit {self.limit.highest:.2f})"


def judge(limit: Limit) -> Verdict:
    """Measures until a ratio is within the limit, three times at most."""
    ratios = [limit.ratio()]
    while ratios[-1] > limit.highest and len(ratios) < TRIES:
        ratios.append(limit.ratio())
    return Verdict(limit, ratios)


def main(limits: Iterable[Limit] = LIMITS) -> int:
    """Measures all, prints a line each, and returns the exit status."""
    slow = []
    for limit in limits:
        verdict = judge(limit)
        print(verdict.line, flush=True)
        if not verdict.passed:
            slow.append(limit.name)
    if slow:
        print(f"Slower than it may be: {'; '.join(slow)}. `make bench` measures it in full.")
    return int(bool(slow))
