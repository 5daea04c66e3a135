"""The mean of a score. Summary, report, viewer and breakdowns all use this one computation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import msgspec

from benchwright.packs.types import PASSED, SCORE
from benchwright.records import Status
from benchwright.runs.columns import filter_rows
from benchwright.runs.counting_rules import FAILURE_STATUSES, ScoreState
from benchwright.runs.manifest import KnownScale, Manifest, origin_of
from benchwright.runs.table import RunTable
from benchwright.statistic import NoScore, Statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from benchwright.runs.columns import Rows
    from benchwright.stats.score_means import MeanEstimate

MAX_NO_SCORE_REASONS = 5
"""Maximum number of reasons that are reported for a missing score."""

MAX_TRIALS_READ = 50
"""Maximum number of trials that are read to find out why a scorer failed."""


class ScoreScale(NamedTuple):
    """The range of a score; an unknown end is None. `pass_threshold`: the lowest value that passes.

    `pass_threshold` is None if something else decides whether a trial passes: the status that a pack gives.
    `lower_is_better` is only set for imported runs, if their program states it.
    """

    low: float | None = None
    high: float | None = None
    pass_threshold: float | None = None
    lower_is_better: bool = False

    @property
    def value_range(self) -> tuple[float, float] | None:
        """Both ends of the range. None if one end or both are unknown."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def score_scale_of(manifest: Manifest, score: str) -> ScoreScale:
    """Return the scale of a score as declared: packs score from 0 to 100, benchmarks from 0 to 1.

    The values themselves are not read.
    """
    if manifest.kind == "pack":
        return {SCORE: ScoreScale(0.0, 100.0), PASSED: ScoreScale(0.0, 1.0, 1.0)}.get(score, ScoreScale())
    if manifest.kind == "benchmark":
        return ScoreScale(0.0, 1.0, manifest.pass_threshold)
    if (origin := origin_of(manifest)) is not None:
        known = origin.scores.get(score, KnownScale())
        return ScoreScale(known.low, known.high, known.passing, known.lower_is_better)
    return ScoreScale(pass_threshold=manifest.pass_threshold)


class PassingScore(NamedTuple):
    """The score that decides whether a trial passed.

    `threshold`: the lowest value that passes. If `lower_is_better`, it is the highest value that passes.
    """

    name: str
    threshold: float
    lower_is_better: bool = False

    @overload
    def passes(self, value: float) -> bool: ...
    @overload
    def passes(self, value: NDArray[np.float64]) -> NDArray[np.bool_]: ...
    def passes(self, value: Any) -> Any:
        """Return True if a value passes. For an array (n,) of values, return a mask (n,)."""
        return value <= self.threshold if self.lower_is_better else value >= self.threshold


def passing_score(manifest: Manifest, table: RunTable) -> PassingScore | None:
    """Return the first score of a run for which passing is defined. None if there is none."""
    for name in table.scores:
        scale = score_scale_of(manifest, name)
        if scale.pass_threshold is not None:
            return PassingScore(name, scale.pass_threshold, scale.lower_is_better)
    return None


def passed_trials_mask(manifest: Manifest, table: RunTable) -> NDArray[np.bool_] | None:
    """Return a mask (n,) of the trials that pass. None if passing is not defined."""
    import numpy as np

    passing = passing_score(manifest, table)
    if passing is None:
        return None
    column, places = table.scores[passing.name], np.arange(len(table))
    answered = column.states(places) != ScoreState.FAILED
    passed: NDArray[np.bool_] = passing.passes(column.values(places)) & answered
    return passed


class ScoreValues(NamedTuple):
    """The values (n,) of one score over scored trials. A trial without an answer has the value 0.

    `samples` (n,): sample of each value; set if samples have repeats. `groups` (n,): cluster of each value's
    sample (such as a passage), -1 for none; set if there are clusters. `no_answer_count`: number of trials
    without an answer. `failed_count`: number of failed trials. `failure_reasons`: the reasons why trials
    failed, with counts; set if there are no values.
    """

    values: NDArray[np.float64]
    samples: NDArray[np.int64] | None
    groups: NDArray[np.int64] | None
    no_answer_count: int
    failed_count: int
    scale: ScoreScale
    failure_reasons: Mapping[str, int] = {}

    @property
    def trial_count(self) -> int:
        """Number of trials, including failed ones."""
        return len(self.values) + self.failed_count

    @property
    def value_range(self) -> tuple[float, float] | None:
        """The ends of the score's range. None if they are not known, or if a value is outside of them."""
        ends = self.scale.value_range
        if ends is None or (
            self.values.size and not ends[0] <= self.values.min() <= self.values.max() <= ends[1]
        ):
            return None
        return ends

    @property
    def mean_bounds(self) -> tuple[float, float] | None:
        """The lowest and highest possible mean if the failed trials had been scored.

        None if no trial failed, or if the range is not known.
        """
        if not self.failed_count or not len(self.values) or self.scale.value_range is None:
            return None
        from benchwright.stats.arrays import exact_sum

        low, high = self.scale.value_range
        total = exact_sum(self.values)
        return (total + self.failed_count * low) / self.trial_count, (
            total + self.failed_count * high
        ) / self.trial_count


def score_values_of(manifest: Manifest, table: RunTable, score: str, rows: Rows) -> ScoreValues:
    """Return the values of one score over the trials in `rows`, by the rule of `runs.counting`.

    If the score's range is unknown and all values are between 0 and 1, the range is assumed to be 0 to 1.
    """
    import numpy as np

    column = table.scores[score]
    states = column.states(rows)
    failed = np.count_nonzero(states == ScoreState.FAILED)
    no_answer = np.count_nonzero(states == ScoreState.NO_ANSWER)
    own = filter_rows(rows, states != ScoreState.FAILED) if failed else rows
    del states
    values = column.values(own)
    scale = score_scale_of(manifest, score)
    if scale.low is None and values.size and values.min() >= 0 and values.max() <= 1:
        scale = scale._replace(low=0.0, high=1.0)
    return ScoreValues(
        values,
        table.sample.numbers(own) if repeats_of(manifest, table) > 1 else None,
        table.group.numbers(own) - 1 if len(table.groups) else None,
        int(no_answer),
        int(failed),
        scale,
        {} if values.size else failure_reasons(table, score, rows),
    )


def repeats_of(manifest: Manifest, table: RunTable) -> int:
    """Return the number of repeats per sample.

    It is the planned number, or more if trials have higher repeat numbers. Logs of other programs may number
    repeats that were not planned.
    """
    return max(manifest.repeats, 1 + table.repeat.max_number)


def failure_reasons(table: RunTable, score: str, rows: Rows) -> dict[str, int]:
    """Return the most frequent reasons why trials in `rows` have no value of this score, with counts.

    A table keeps one reason for each trial. If that reason belongs to another scorer, the reason of this scorer
    is read from the journal. If there is no reason, the status takes its place.
    """
    own: dict[str, int] = {}
    for reason, count in table.failure_reasons(rows).items():
        if reason.startswith(f"{score}: "):
            own[reason.removeprefix(f"{score}: ")] = count
        elif not any(reason.startswith(f"{other}: ") for other in table.scores):
            own[reason] = count
    own = own or _errors_of(table, score, rows) or _failed_statuses(table, rows)
    return dict(islice(own.items(), MAX_NO_SCORE_REASONS))


def _failed_statuses(table: RunTable, rows: Rows) -> dict[str, int]:
    counts = table.status_counts(rows)
    return {status.replace("_", " "): count for status, count in counts.items() if status in FAILURE_STATUSES}


def _errors_of(table: RunTable, score: str, rows: Rows) -> dict[str, int]:
    """Return the errors of a scorer in the first `MAX_TRIALS_READ` trials of `rows`, with counts."""
    import numpy as np

    some = filter_rows(rows, table.scored_mask(score)[rows])
    places = np.flatnonzero(some) if some.dtype == np.bool_ else some
    scores = (trial.scores.get(score) for trial in table.read_trials(places[:MAX_TRIALS_READ].tolist()))
    errors = [
        str((one.detail or {}).get("error", one.status))
        for one in scores
        if one is not None and one.status is Status.GRADER_ERROR
    ]
    return dict(Counter(errors).most_common())


def mean_of(found: ScoreValues, *, confidence: float = 0.95) -> MeanEstimate | NoScore:
    """Return the mean over samples with its interval. The interval stays within the score's range."""
    from benchwright.stats.intervals import Interval
    from benchwright.stats.score_means import estimate_mean

    if not len(found.values):
        return NoScore(found.failed_count, dict(found.failure_reasons))
    groups = None
    if found.groups is not None and (found.groups >= 0).any():
        groups = [None if group < 0 else group for group in found.groups.tolist()]
    ends = found.value_range
    result = estimate_mean(found.values, found.samples, groups, value_range=ends, confidence=confidence)
    if result.interval is None or ends is None:
        return result
    low, high = ends
    within = Interval(max(result.interval.low, low), min(result.interval.high, high))
    return msgspec.structs.replace(result, interval=within)


class MeanWithInterval(NamedTuple):
    """A mean and the ends of its confidence interval, in the form that records use."""

    mean: Statistic
    low: Statistic
    high: Statistic


def mean_with_interval(result: MeanEstimate | NoScore) -> MeanWithInterval:
    """Return the mean and the ends of its interval. If there is no mean, all three are the same `NoScore`."""
    if isinstance(result, NoScore):
        return MeanWithInterval(result, result, result)
    low, high = result.interval or (None, None)
    return MeanWithInterval(result.mean, low, high)
