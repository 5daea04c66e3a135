"""The figures of one level: of its requests, those in the window that warm-up and cool-down leave."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchwright.analysis.load.records import Goodput, Objective, Quantile, Spread
from benchwright.analysis.load.requests import Requests
from benchwright.stats.arrays import Vector
from benchwright.stats.intervals import wilson
from benchwright.stats.latency import percentile, percentile_interval
from benchwright.stats.windows import Cut, Window, ended_within, most_at_once, shares_within, window

MOST_FAILURES = 5


class Figures:
    """What the requests in the window come to. `open_loop`: they came when they were due."""

    def __init__(self, requests: Requests, found: Window, *, open_loop: bool) -> None:
        self._all = requests
        self._open = open_loop
        self._window = found
        self._counted = slice(found.first, found.last + 1)
        span = found.begin, found.end
        weights = (
            ended_within(requests.end, *span)
            if open_loop
            else shares_within(requests.start, requests.end, *span)
        )
        self._share = weights * requests.ok

    @property
    def counted(self) -> int:
        """How many requests have their intended start in the window."""
        return self._window.last + 1 - self._window.first

    @property
    def failed(self) -> int:
        """How many of these got no answer."""
        return int((~self._all.ok[self._counted]).sum())

    @property
    def failures(self) -> dict[str, int]:
        """Their most frequent reasons."""
        reasons = Counter(reason for reason in self._all.failures[self._counted] if reason is not None)
        return dict(reasons.most_common(MOST_FAILURES))

    @property
    def offered(self) -> float | None:
        """Intended starts per second; None of a single one."""
        found = self._window
        span = float(self._all.intended[found.last] - self._all.intended[found.first])
        return (self.counted - 1) / span if span > 0 else None

    @property
    def achieved(self) -> float:
        """Answers per second."""
        return self._rate(np.ones(self._share.size))

    def tokens_per_second(self, column: str) -> float:
        """Tokens of a column per second; those that are not known count as none."""
        return self._rate(np.nan_to_num(getattr(self._all, column)))

    def spread(self, column: str) -> Spread | None:
        """How a measure is spread over the answered requests in the window; None where it is known of none."""
        values = getattr(self._all, column)[self._counted][self._all.ok[self._counted]]
        return spread(values[np.isfinite(values)])

    def lateness(self) -> Spread | None:
        """How much later than intended requests were begun, answered or not."""
        return spread((self._all.start - self._all.intended)[self._counted])

    def mean(self, column: str) -> float | None:
        """The mean of a column over the answered requests in the window of which it is known."""
        values = getattr(self._all, column)[self._counted]
        known = values[np.isfinite(values)]
        return float(known.mean()) if known.size else None

    def cached(self) -> float | None:
        """The share of prompt tokens that the server had in its cache, where it says."""
        cached, prompt = (
            getattr(self._all, name)[self._counted] for name in ("cached_tokens", "prompt_tokens")
        )
        known = np.isfinite(cached) & np.isfinite(prompt)
        total = float(prompt[known].sum())
        return float(cached[known].sum()) / total if total else None

    def goodput(self, objectives: Sequence[Objective]) -> Goodput | None:
        """The requests that met all objectives; None where there are none.

        What is not known of an answer (a time to the first token that did not come apart) has not been met, but for
        `itl`: an answer of one token has nothing between its tokens.
        """
        if not objectives:
            return None
        met = self._all.ok.copy()
        for objective in objectives:
            values = getattr(self._all, objective.measure)
            unknown = np.isnan(values) & (objective.measure == "itl")
            met &= unknown | (np.nan_to_num(values, nan=np.inf) <= objective.seconds)
        inside = int(met[self._counted].sum())
        low, high = wilson(inside, self.counted)
        share, offered = inside / self.counted, self.offered
        rate = share * offered if self._open and offered is not None else self._rate(met.astype(np.float64))
        return Goodput(inside, self.counted, share, low, high, rate)

    def _rate(self, amounts: Vector) -> float:
        seconds = self._window.seconds
        return float((self._share * amounts).sum()) / seconds if seconds > 0 else 0.0


def spread(values: Vector) -> Spread | None:
    """Mean and percentiles with their intervals (order statistics, see `stats.latency`)."""
    if not values.size:
        return None

    def quantile(q: float) -> Quantile:
        low, high = percentile_interval(values, q)
        return Quantile(percentile(values, q), _finite(low), _finite(high))

    return Spread(values.size, float(values.mean()), quantile(0.5), quantile(0.9), quantile(0.99))


def find_window(requests: Requests, warmup: Cut, cooldown: Cut) -> Window | None:
    """The window of a level's requests; None where the cuts leave nothing."""
    return window(requests.intended, requests.start, requests.end, warmup, cooldown)


def in_flight(requests: Requests) -> int:
    """The most requests that were under way at once."""
    return most_at_once(requests.start, requests.end)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
