"""The rates of an open loop: one rule for what is offered, what is answered and what meets objectives.

Of n requests, due at d_1 … d_n in a window, that bring x_1 … x_n (1 or 0 for an answer, or its tokens):

    rate(x) = (x_1 + … + x_n) / (T + G)        offered = n / T
    T = (d_n - d_1) n / (n - 1)                the time in which they were due: n requests have n - 1 gaps
    G = max(0, growth of the latency from d_1 to d_n), where that has a p-value below 0.05, else 0

Their answers come in T + G: from d_1 + L_1 to d_n + L_n, where L is the latency as a line over the window has it. A
server that keeps up answers what is offered, however long an answer takes; one that does not falls behind by G. What is
counted is the same for all, and so is the time, so that goodput <= answers <= offered always holds. Answers that happen
to end within a window cannot give that: those of requests before it are counted and those of its own requests after it
are not, and where an answer takes a third of the level, a third of them is missing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import same_length, vector
from benchwright.stats.batches import mean_interval
from benchwright.stats.intervals import Interval, critical_t
from benchwright.stats.steady import PARTS, growth

LIKELY = 0.05
"""The p-value below which a growth of the latency counts. Measured against drawn queues of four slots, such rates are
as near the truth at every load as a count of the answers in the window: below the capacity growth that is only chance
costs nothing on average, and above it nothing is missed."""


class AnswerTime(NamedTuple):
    """In which time requests were due (`due` is T), by how much their answers took longer (`fallen_behind` is G), and
    half the 95 % interval of that."""

    due: float
    fallen_behind: float
    uncertain: float

    @property
    def seconds(self) -> float:
        """T + G: the time in which their answers came."""
        return self.due + self.fallen_behind


def answer_time(due: ArrayLike, latencies: ArrayLike) -> AnswerTime | None:
    """Return the time in which the answers of requests came, for `due` (n,) in order and the latencies of the answered
    ones in that order; None where the requests were due at one moment.

    Raises:
        ValueError: If a value is not finite.
    """
    moments = vector(due, "due")
    if moments.size < 2 or moments[-1] <= moments[0]:
        return None
    span = float(moments[-1] - moments[0]) * moments.size / (moments.size - 1)
    grown = growth(latencies)
    if grown is None:
        return AnswerTime(span, 0.0, 0.0)
    likely = grown.p_value < LIKELY and grown.amount > 0
    half = critical_t(0.95, PARTS - 2) * grown.error
    return AnswerTime(span, grown.amount if likely else 0.0, half)


def rate_interval(due: ArrayLike, brought: ArrayLike, time: AnswerTime) -> Interval:
    """Return the 95 % interval of rate(x), as factors of it: what requests bring, how regularly they came, and how well
    the growth of the latency is known.

    The first two by the means of batches of x_i / mean(x) - gap_i / mean(gap), the delta method for a ratio.

    Raises:
        ValueError: If the lengths differ, a value is not finite, or nothing is brought.
    """
    moments, given = vector(due, "due"), vector(brought, "brought")
    same_length("due", moments.size, "brought", given.size)
    mean, gaps = float(given.mean()), np.diff(moments)
    if not mean:
        raise ValueError("nothing is brought: it has no rate")
    gaps = np.append(gaps, gaps.mean())
    deviations = given / mean - gaps / gaps.mean()
    spread = mean_interval(deviations - deviations.mean())
    half = math.hypot(spread.high, time.uncertain / time.seconds)
    return Interval(math.exp(-half), math.exp(half))
