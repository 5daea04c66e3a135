"""Live statistics of a run. They are updated with each result, in constant time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from benchwright.engine.worker import SolvedWork, WorkResult
from benchwright.records import Status, Trial
from benchwright.runs.counting_rules import (
    FAILURE_STATUSES,
    ScoreState,
    combine_statuses,
    is_counted,
    state_of_score,
)

if TYPE_CHECKING:
    from benchwright.stats.intervals import Interval


class RunningMean:
    """Incremental mean and variance (Welford 1962).

    `dependent`: True if the values are not independent: some are repeats of one sample, or belong to one
    cluster.
    """

    def __init__(self) -> None:
        self.n = 0
        self.dependent = False
        self.mean = 0.0
        self._squares = 0.0
        self._least = math.inf
        self._greatest = -math.inf
        self._proportion = True

    def add(self, value: float) -> None:
        """Add one value."""
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self._squares += step * (value - self.mean)
        self._least, self._greatest = min(self._least, value), max(self._greatest, value)
        self._proportion = self._proportion and value in (0.0, 1.0)

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the mean, by the rules of a run's summary.

        It is None if there are fewer than two values, or if they are dependent. It is Wilson's interval for
        values that are all 0 or 1, and Student's t interval for other values. Values that are all between 0 and
        1 are assumed to have this range, and their interval is cut to the range. If all values are equal, the
        interval follows from their range; it is None if the range is unknown.
        """
        if self.n < 2 or self.dependent:
            return None
        from benchwright.stats.intervals import Interval, equal_values_interval, t_interval, wilson_interval

        if self._proportion:
            return wilson_interval(round(self.mean * self.n), self.n)
        in_unit = self._least >= 0 and self._greatest <= 1
        if self._least == self._greatest:
            return equal_values_interval(self._least, self.n, (0.0, 1.0)) if in_unit else None
        low, high = t_interval(self.mean, math.sqrt(self._squares / (self.n - 1) / self.n), self.n - 1)
        return Interval(max(0.0, low), min(1.0, high)) if in_unit else Interval(low, high)


@runtime_checkable
class LevelListener(Protocol):
    """A listener that is also told each change of the concurrency level, if the concurrency adapts itself."""

    def on_level(self, level: int, settled: bool) -> None:
        """Receive `level`, the maximum number of trials in flight from now on.

        `settled`: True if the level is final for now.
        """
        ...


@runtime_checkable
class PauseListener(Protocol):
    """A listener that is also told when a model's server asks for a pause."""

    def on_pause(self, model: str, seconds: float) -> None:
        """Receive the number of seconds, from now on, during which no requests are sent to this model."""
        ...


@runtime_checkable
class DecisionListener(Protocol):
    """A listener that also displays how close the run's statistical question (`--until`) is to a decision."""

    def set_decision_text(self, so_far: Callable[[], str]) -> None:
        """Receive a function that states in a few words how close the question is to a decision."""
        ...


@runtime_checkable
class ActivityListener(Protocol):
    """A listener that also displays other activities of the run, such as pulling an image."""

    def set_activities(self, told: Callable[[], Sequence[str]]) -> None:
        """Receive a function that returns the present activities, a few words for each."""
        ...


class LiveProgress:
    """A listener that counts trials by the rules of `runs.counting`.

    Cut-off trials count neither as done nor as failed.

    - `done`: number of trials done. It includes trials of earlier sessions that are not run again; `trials_per_second`
      leaves them out.
    - `means`: mapping from (slot, scorer) to the mean score.
    - `decision`: function that describes how close the question of `--until` is to a decision; None if the
      run has no question.
    - `level`: maximum number of trials in flight; None if the concurrency is fixed.
    - `settled`: True if the level is final for now.
    """

    def __init__(self) -> None:
        self.total = 0
        self.done = 0
        self.statuses: Counter[Status] = Counter()
        self.means: dict[tuple[str, str], RunningMean] = {}
        self.tokens = 0
        self.notes: list[str] = []
        self.is_over = False
        self.level: int | None = None
        self.settled = False
        self.decision: Callable[[], str] | None = None
        self._waits: dict[str, float] = {}
        self._meanwhile: Callable[[], Sequence[str]] = lambda: ()
        self._earlier = 0
        self._start = monotonic()

    def on_start(self, total: int, done: int, again: int) -> None:
        """See `engine.run.RunListener`."""
        self.total, self.done, self._earlier = total, done - again, done - again
        self._start = monotonic()

    def on_result(self, result: WorkResult) -> None:
        """See `engine.run.RunListener`."""
        if isinstance(result, SolvedWork):
            for request in result.record.requests:
                self.tokens += request.usage.total_tokens
            return
        if not is_counted(result.status):
            return
        self.done += not result.counted
        self.statuses[combine_statuses(result.status, [score.status for score in result.scores])] += 1
        for score in result.scores:
            state = state_of_score(score.status, score.value)
            if state is not ScoreState.FAILED:
                self._mean(result.trial, score.scorer).add(score.value or 0.0)

    def _mean(self, trial: Trial, scorer: str) -> RunningMean:
        mean = self.means.setdefault((trial.target.slot, scorer), RunningMean())
        mean.dependent = mean.dependent or trial.repeat > 0 or trial.sample.group is not None
        return mean

    def on_message(self, text: str) -> None:
        """See `engine.run.RunListener`."""
        self.notes.append(text)

    def on_end(self) -> None:
        """See `engine.run.RunListener`."""
        self.is_over = True

    def on_level(self, level: int, settled: bool) -> None:
        """See `LevelListener`."""
        self.level, self.settled = level, settled

    def on_pause(self, model: str, seconds: float) -> None:
        """See `PauseListener`."""
        self._waits[model] = monotonic() + seconds

    def set_decision_text(self, so_far: Callable[[], str]) -> None:
        """See `DecisionListener`."""
        self.decision = so_far

    def set_activities(self, told: Callable[[], Sequence[str]]) -> None:
        """See `ActivityListener`."""
        self._meanwhile = told

    @property
    def pauses_and_activities(self) -> list[str]:
        """The present pauses for rate limits, and the activities besides the trials, in words."""
        left = {model: math.ceil(until - monotonic()) for model, until in self._waits.items()}
        waits = [
            f"waiting {seconds} s: rate limit of {model}" for model, seconds in left.items() if seconds > 0
        ]
        return [*waits, *self._meanwhile()]

    @property
    def failed_trials(self) -> int:
        """Number of failed trials in this session."""
        return sum(count for status, count in self.statuses.items() if status in FAILURE_STATUSES)

    @property
    def trials_per_second(self) -> float:
        """Trials per second in this session."""
        seconds = monotonic() - self._start
        return (self.done - self._earlier) / seconds if seconds > 0 else 0.0

    @property
    def eta(self) -> float | None:
        """Estimated seconds until the run is finished, at the present rate. None if no trial is done yet."""
        return (self.total - self.done) / self.trials_per_second if self.trials_per_second > 0 else None
