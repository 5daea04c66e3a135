"""Rates of an open loop: one rule for the offered rate, the answered rate and goodput.

n requests are due at d_1 … d_n in a window. They bring x_1 … x_n: 1 or 0 for an answer, or its number of
tokens.

    rate(x) = (x_1 + … + x_n) / (T + G)        offered = n / T
    T = (d_n - d_1) n / (n - 1)                the time in which they were due: n requests have n - 1 gaps
    G = max(0, growth of the latency from d_1 to d_n) if its p-value is below 0.05, else 0

The answers arrive within T + G: from d_1 + L_1 to d_n + L_n, with L the latency on a straight line over the
window. A server that keeps up answers at the offered rate, however long an answer takes. A server that does
not keep up falls behind by G. All three rates count the same requests over the same time, so that goodput <=
answers <= offered always holds. Counting the answers that happen to end within a window cannot ensure that:
the count includes answers to requests from before the window and misses answers that end after the window. If
an answer takes a third of the level's duration, a third of the answers is missing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import require_same_length, to_vector
from benchwright.stats.batch_means import mean_interval
from benchwright.stats.intervals import Interval, critical_t
from benchwright.stats.steady_state import DRIFT_PART_COUNT, estimate_growth

MAX_GROWTH_P_VALUE = 0.05
"""The growth G of the latency is taken into account if its p-value is below this. Otherwise G is 0.

The rule was measured against simulated queues of four slots. At every load, rates by this rule are as near
the truth as a count of the answers in the window. Below the capacity, a growth by chance costs nothing on
average; above the capacity, no growth is missed.
"""


class AnswerTimeSpan(NamedTuple):
    """Time in which the answers of requests arrived, in the unit of the arguments of `answer_time_span`.

    `due_time`: T, the time in which the requests were due. `delay_growth`: G, the growth of their latency.
    `interval_half_width`: half the width of the 95 % interval of G. The module's docstring defines T and G.
    """

    due_time: float
    delay_growth: float
    interval_half_width: float

    @property
    def seconds(self) -> float:
        """`due_time` + `delay_growth`: the time in which the answers arrived."""
        return self.due_time + self.delay_growth


def answer_time_span(due: ArrayLike, latencies: ArrayLike) -> AnswerTimeSpan | None:
    """Return the time in which the answers of requests arrived. None if all requests were due at one moment.

    `due` (n,) are the due times of all requests, in order. `latencies` are the latencies of the answered
    requests, in the same order.

    Raises:
        ValueError: If a value is not finite.
    """
    moments = to_vector(due, "due")
    if moments.size < 2 or moments[-1] <= moments[0]:
        return None
    span = float(moments[-1] - moments[0]) * moments.size / (moments.size - 1)
    grown = estimate_growth(latencies)
    if grown is None:
        return AnswerTimeSpan(span, 0.0, 0.0)
    likely = grown.p_value < MAX_GROWTH_P_VALUE and grown.amount > 0
    half = critical_t(0.95, DRIFT_PART_COUNT - 2) * grown.standard_error
    return AnswerTimeSpan(span, grown.amount if likely else 0.0, half)


def rate_interval(due: ArrayLike, brought: ArrayLike, time: AnswerTimeSpan) -> Interval:
    """Return the 95 % interval of a rate, divided by the rate.

    `brought` (n,): the amount that each request brings, such as 1 per answer, or its number of tokens. The
    interval covers three variations: of these amounts, of the gaps between requests, and of the estimated
    growth of the latency. The first two variations come from the means of batches of x_i / mean(x) - gap_i /
    mean(gap), the delta method for a ratio.

    Raises:
        ValueError: If lengths differ, a value is not finite, or nothing is brought.
    """
    moments, given = to_vector(due, "due"), to_vector(brought, "brought")
    require_same_length("due", moments.size, "brought", given.size)
    mean, gaps = float(given.mean()), np.diff(moments)
    if not mean:
        raise ValueError("nothing is brought: it has no rate")
    gaps = np.append(gaps, gaps.mean())
    deviations = given / mean - gaps / gaps.mean()
    spread = mean_interval(deviations - deviations.mean())
    half = math.hypot(spread.high, time.interval_half_width / time.seconds)
    return Interval(math.exp(-half), math.exp(half))
