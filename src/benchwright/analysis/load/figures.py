"""Figures of one load level, over the requests in the window between warm-up and cool-down."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.load.figure_records import ChunkGaps, FigureEstimate, Goodput, TimeDistribution
from benchwright.analysis.load.records import Objective
from benchwright.analysis.load.requests import LevelRequests
from benchwright.stats.arrays import Vector
from benchwright.stats.batch_means import (
    effective_series_size,
    mean_interval,
    percentile_bound,
    percentile_interval,
)
from benchwright.stats.histogram import quantile
from benchwright.stats.intervals import wilson_interval
from benchwright.stats.open_loop import AnswerTimeSpan, answer_time_span, rate_interval
from benchwright.stats.percentiles import percentile
from benchwright.stats.windows import Window, mean_concurrency

MAX_FAILURE_REASONS = 5


class WindowFigures:
    """Computes the figures of the requests in a level's window.

    `open_loop`: True if requests were sent when they were due.

    A burst is a level whose requests were all sent at once, so that it has no steady rate.
    """

    def __init__(self, requests: LevelRequests, found: Window, *, open_loop: bool) -> None:
        self._all = requests
        self._open = open_loop
        self._window = found
        self._counted = slice(found.first, found.last + 1)

    @property
    def counted_requests(self) -> int:
        """Number of requests whose intended start is in the window."""
        return self._window.last + 1 - self._window.first

    @property
    def failed_requests(self) -> int:
        """Number of requests in the window that got no answer."""
        return int((~self._all.ok[self._counted]).sum())

    @property
    def failure_reasons(self) -> dict[str, int]:
        """The most frequent reasons why requests failed, with counts."""
        reasons = Counter(reason for reason in self._all.failures[self._counted] if reason is not None)
        return dict(reasons.most_common(MAX_FAILURE_REASONS))

    @property
    def outlasting_requests(self) -> int:
        """Number of requests that began before the window and ended after it."""
        return int(self._outlasting.sum())

    @property
    def _outlasting(self) -> NDArray[np.bool_]:
        outlasting: NDArray[np.bool_] = self._all.end > self._window.end
        outlasting[self._window.first :] = False
        return outlasting

    @property
    def offered_rate(self) -> float | None:
        """Number of intended starts per second. None for a single request."""
        return None if self._answer_time is None else self.counted_requests / self._answer_time.due_time

    @property
    def achieved_rate(self) -> FigureEstimate | None:
        """Number of answers per second. None if the level is a burst (all requests sent at once: no steady rate)."""
        return self._rate(np.ones(self._all.ok.size))

    def tokens_per_second(self, column: str) -> FigureEstimate | None:
        """Return the rate of tokens that a column counts, in tokens per second.

        Return None if the level is a burst (all requests sent at once: no steady rate), or if no answer has
        token counts. Answers without counts are assumed to have as many tokens as the mean of the other
        answers.
        """
        reported = self.reported_share(column)
        rate = self._rate(np.nan_to_num(getattr(self._all, column))) if reported else None
        return rate and FigureEstimate(
            rate.value / reported,
            None if rate.low is None else rate.low / reported,
            None if rate.high is None else rate.high / reported,
        )

    def reported_share(self, column: str) -> float:
        """Return the share of the answers that have a known value in a column."""
        known = np.isfinite(self._answered(column))
        return float(known.mean()) if known.size else 0.0

    def column_distribution(self, column: str) -> TimeDistribution | None:
        """Return the distribution of a measure over the answered requests in the window.

        None if the measure is unknown.
        """
        return time_distribution(self.known_values(column))

    def ttfa(self) -> TimeDistribution | None:
        """Return the time to the first token of the answer proper, which begins after any reasoning.

        Return None if no answer began with reasoning, because the time would be the same as the TTFT.
        """
        later = self._answered("ttfa") > self._answered("ttft")
        return self.column_distribution("ttfa") if later.any() else None

    def normalized_latency(self) -> TimeDistribution | None:
        """Return the latency divided by the number of the answer's tokens (Kwon et al. 2023: normalized
        latency).

        Return None without token counts.
        """
        latency, tokens = self._answered("latency"), self._answered("completion_tokens")
        known = tokens > 0
        return time_distribution(latency[known] / tokens[known]) if known.any() else None

    def lateness(self) -> TimeDistribution | None:
        """Return the delay from intended to actual start, over all requests, whether answered or not."""
        return time_distribution((self._all.start - self._all.intended)[self._counted])

    @property
    def unstreamed_answers(self) -> int:
        """Number of answers of several tokens that were requested as a stream but arrived in one piece."""
        several = self._answered("completion_tokens") > 1
        whole = np.isfinite(self._answered("ttft")) & np.isnan(self._answered("itl"))
        return int((several & whole).sum())

    def ending_delay(self) -> float | None:
        """Return the median time from the last token to the end of an answer. None if no token times are known."""
        times = self._answered("latency") - self._answered("last_token")
        known = times[np.isfinite(times)]
        return float(np.median(known)) if known.size else None

    def column_mean(self, column: str) -> float | None:
        """Return the mean of a column over the answered requests in the window. None if no value is known."""
        known = self.known_values(column)
        return float(known.mean()) if known.size else None

    @cached_property
    def pooled_chunk_gaps(self) -> Counter[int]:
        """Histogram of the times between chunks with tokens, over all answers."""
        pooled = Counter[int]()
        for place in range(self._window.first, self._window.last + 1):
            if self._all.ok[place]:
                pooled.update(self._all.gaps[place])
        return pooled

    def chunk_gaps(self) -> ChunkGaps | None:
        """Return the times between chunks with tokens. None if no answer has two such chunks."""
        pooled = self.pooled_chunk_gaps
        if not pooled:
            return None
        middle, late, longest = (quantile(pooled, q) / 1e9 for q in (0.5, 0.99, 1.0))
        chunks, tokens = self._answered("chunks"), self._answered("tokens_after_first_chunk")
        known = np.isfinite(tokens) & (chunks > 0)
        held = float(tokens[known].sum() / chunks[known].sum()) if known.any() else None
        return ChunkGaps(pooled.total(), middle, late, longest, held)

    def cached_share(self) -> float | None:
        """Return the share of prompt tokens that the server had in its cache.

        None if the server does not report cached tokens.
        """
        cached, prompt = self._answered("cached_tokens"), self._answered("prompt_tokens")
        known = np.isfinite(cached) & np.isfinite(prompt)
        total = float(prompt[known].sum())
        return float(cached[known].sum()) / total if total else None

    def goodput(self, objectives: Sequence[Objective]) -> Goodput | None:
        """Return the number and rate of requests that met all objectives. None if there are no objectives.

        If the measure of an objective is unknown for an answer (such as the time to first token of an answer
        that came in one piece), the answer does not meet the objective. The exception is `itl`: an answer of
        one token has no time between tokens and meets the objective.
        """
        if not objectives:
            return None
        met = self._all.ok.copy()
        attained: dict[str, float] = {}
        for objective in objectives:
            one = self._all.ok & self._meets(objective)
            attained[objective.measure] = float(one[self._counted].mean())
            met &= one
        inside = met[self._counted]
        share = float(inside.mean())
        size = (
            effective_series_size(inside, share) if 0 < share < 1 and inside.size > 1 else float(inside.size)
        )
        low, high = wilson_interval(share * size, size)
        rate = self._rate(met.astype(np.float64))
        if self._open and rate is not None and self._answer_time is not None:
            asked = self.counted_requests / self._answer_time.seconds
            rate = FigureEstimate(rate.value, low * asked, high * asked)
        return Goodput(int(inside.sum()), self.counted_requests, share, low, high, rate, attained)

    def _meets(self, objective: Objective) -> NDArray[np.bool_]:
        values = getattr(self._all, objective.measure)
        unknown = np.isnan(values) & (objective.measure == "itl")
        meets: NDArray[np.bool_] = unknown | (np.nan_to_num(values, nan=np.inf) <= objective.seconds)
        return meets

    def _answered(self, column: str) -> Vector:
        values: Vector = getattr(self._all, column)[self._counted][self._all.ok[self._counted]]
        return values

    def known_values(self, column: str) -> Vector:
        """Return the known values of a column for the answered requests in the window, in order of time."""
        values = self._answered(column)
        return values[np.isfinite(values)]

    def _rate(self, amounts: Vector) -> FigureEstimate | None:
        """Return the sum of the amounts of all answers, per second.

        Return None if the level is a burst, which has no steady rate.
        """
        if self._window.is_burst:
            return None
        return self._open_rate(amounts) if self._open else self._closed_rate(amounts)

    @cached_property
    def _answer_time(self) -> AnswerTimeSpan | None:
        return answer_time_span(self._all.intended[self._counted], self._answered("latency"))

    def _open_rate(self, amounts: Vector) -> FigureEstimate | None:
        """Return the rate by the rule of `stats.open_loop`. None if all requests were due at one moment."""
        time = self._answer_time
        if time is None:
            return None
        brought = (amounts * self._all.ok)[self._counted]
        value = float(brought.sum()) / time.seconds
        if not value:
            return FigureEstimate(value)
        low, high = rate_interval(self._all.intended[self._counted], brought, time)
        return FigureEstimate(value, value * low, value * high)

    def _closed_rate(self, amounts: Vector) -> FigureEstimate:
        """Return the rate by Little's law: requests in flight / mean time of a request * mean amount of a
        request.

        Requests that were in flight during the whole window are left out of the requests in flight. None of
        them is among the counted requests, so they only occupied a slot.
        """
        requests, others = self._all, ~self._outlasting
        span = self._window.begin, self._window.end
        taken = requests.sent_latency[self._counted]
        mean = float(taken.mean())
        turnover = (
            mean_concurrency(requests.start[others], requests.end[others], *span) / mean if mean > 0 else 0.0
        )
        brought = (amounts * requests.ok)[self._counted]
        per_request = float(brought.mean())
        value = turnover * per_request
        if brought.size < 2 or not value:
            return FigureEstimate(value)
        deviations = brought / per_request - taken / mean
        low, high = mean_interval(deviations - deviations.mean())
        return FigureEstimate(value, value * math.exp(low), value * math.exp(high))


def time_distribution(values: Vector) -> TimeDistribution | None:
    """Return the mean and percentiles of `values`. None if there are no values.

    The confidence intervals of the percentiles are from `stats.batch_means`. `values` must be ordered by time,
    because the batches are consecutive.
    """
    if not values.size:
        return None

    def estimate(q: float) -> FigureEstimate:
        low, high = percentile_interval(values, q)
        bound = percentile_bound(values, q)
        return FigureEstimate(percentile(values, q), _finite(low), _finite(high), _finite(bound))

    return TimeDistribution(values.size, float(values.mean()), estimate(0.5), estimate(0.9), estimate(0.99))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
