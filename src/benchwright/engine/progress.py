"""Progress: what is known of a run while it runs, kept up to date in constant time per result."""

from __future__ import annotations

import math
from collections import Counter
from time import monotonic
from typing import Protocol, runtime_checkable

from benchwright.engine.worker import Result, Solved
from benchwright.records import FAILED, Status, trial_status


class RunningMean:
    """Mean and variance of values one by one (Welford 1962)."""

    def __init__(self) -> None:
        self.n = 0
        self.mean = 0.0
        self._squares = 0.0

    def add(self, value: float) -> None:
        """Takes one value in."""
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self._squares += step * (value - self.mean)

    @property
    def half_width(self) -> float:
        """Half of a rough 95 % interval, 1.96 standard errors; 0 below two values. The summary has the real one."""
        return 1.96 * math.sqrt(self._squares / (self.n - 1) / self.n) if self.n > 1 else 0.0


@runtime_checkable
class HearsPace(Protocol):
    """A listener that also wants to hear how many trials may be in flight, where that finds itself."""

    def paced(self, level: int, settled: bool) -> None:
        """So many from now on; `settled` where it is to stay so."""
        ...


class Progress:
    """A listener that counts. `done` includes what earlier sessions finished, `rate` does not.

    `level` is how many trials may be in flight, `settled` whether it is to stay so; None where it was given.
    """

    def __init__(self) -> None:
        self.total = 0
        self.done = 0
        self.statuses: Counter[Status] = Counter()
        self.means: dict[str, RunningMean] = {}
        self.tokens = 0
        self.notes: list[str] = []
        self.over = False
        self.level: int | None = None
        self.settled = False
        self._earlier = 0
        self._start = monotonic()

    def started(self, total: int, done: int) -> None:
        """See `engine.run.Listener`."""
        self.total, self.done, self._earlier = total, done, done
        self._start = monotonic()

    def delivered(self, result: Result) -> None:
        """See `engine.run.Listener`."""
        if isinstance(result, Solved):
            for request in result.record.requests:
                self.tokens += request.usage.total_tokens
            return
        self.done += not result.counted
        self.statuses[trial_status(result.status, [score.status for score in result.scores])] += 1
        for score in result.scores:
            if score.value is not None:
                self.means.setdefault(score.scorer, RunningMean()).add(score.value)

    def said(self, text: str) -> None:
        """See `engine.run.Listener`."""
        self.notes.append(text)

    def ended(self) -> None:
        """See `engine.run.Listener`."""
        self.over = True

    def paced(self, level: int, settled: bool) -> None:
        """See `HearsPace`."""
        self.level, self.settled = level, settled

    @property
    def failed(self) -> int:
        """Trials of this session that have no answer."""
        return sum(count for status, count in self.statuses.items() if status in FAILED)

    @property
    def rate(self) -> float:
        """Trials per second in this session."""
        seconds = monotonic() - self._start
        return (self.done - self._earlier) / seconds if seconds > 0 else 0.0

    @property
    def eta(self) -> float | None:
        """Seconds left at this rate, None while nothing is done."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None
