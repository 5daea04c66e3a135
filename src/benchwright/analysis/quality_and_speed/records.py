"""The joint view of quality and speed, of a run and of runs at several concurrencies, as plain data.

Times are in seconds.
"""

from __future__ import annotations

from typing import Literal

from benchwright.records import Record
from benchwright.statistic import Statistic

Metric = Literal["latency", "ttft"]


class CorrectAnswerRate(Record, frozen=True):
    """Correct answers per unit of `per` (seconds, or thousands of tokens).

    `low` and `high` are None if the data cannot support an interval. The interval treats `n_groups` clusters
    of trials as independent; a sample without a cluster is a cluster by itself.
    """

    value: float
    correct: int
    per: float
    n_groups: int
    low: float | None = None
    high: float | None = None
    method: str = "none"


class SpeedBucket(Record, frozen=True):
    """A quarter of the trials by speed, with times from `fastest` to `slowest`.

    `correct` of `n` are right; `low` and `high` are the interval of `accuracy`, made by `method`.
    """

    fastest: float
    slowest: float
    n: int
    correct: int
    accuracy: float
    low: float | None = None
    high: float | None = None
    method: str = "none"


class WithinSamples(Record, frozen=True):
    """Comparison of right and wrong repeats of the same sample, over the `samples` that have both.

    `wrong_slower`, `wrong_faster`: number of clusters of samples in which wrong answers were slower or
    faster; `ties`: neither.
    """

    samples: int
    wrong_slower: int
    wrong_faster: int
    ties: int
    p_value: float | None = None


class SpeedAccuracy(Record, frozen=True):
    """Accuracy by one measure of speed, over the `n` trials that have both; the fastest bucket first.

    `untimed`: number of graded trials without such a time. `wrong_slower`: the probability that a wrong
    answer took longer than a right one (0.5: no association). `p_value`: of the hypothesis that it is 0.5, by
    `test`.
    """

    metric: Metric
    n: int
    correct: int
    untimed: int
    buckets: list[SpeedBucket]
    wrong_slower: float | None = None
    p_value: float | None = None
    test: str = "none"
    within: WithinSamples | None = None


class OutcomeCounts(Record, frozen=True):
    """Trials by outcome; the counts add up to `trials`.

    `wrong` trials have a score below the threshold; `no_answer` trials have no score because no answer was
    found. Both count as wrong. `failed` trials (provider, agent, grader) are neither right nor wrong.
    `reused` trials come from earlier runs and are not included in any other count but `trials`. `low` and
    `high` are the interval of `accuracy`: correct / (correct + wrong + no_answer). All three are the same
    `NoScore` if every trial failed, and unknown if all were reused.
    """

    trials: int = 0
    correct: int = 0
    wrong: int = 0
    no_answer: int = 0
    failed: int = 0
    reused: int = 0
    accuracy: Statistic = None
    low: Statistic = None
    high: Statistic = None
    method: str = "none"

    @property
    def n(self) -> int:
        """Denominator of the accuracy."""
        return self.correct + self.wrong + self.no_answer


class JointView(Record, frozen=True):
    """Quality and speed of the requests that one target answered in one run.

    A trial is correct if its `score` is at least `threshold`. `judged`: trials by outcome. `working_seconds`:
    the time in which trials were in flight; None if unknown. `requests`: number of answered requests;
    percentiles are over requests. `timings_valid`: None if unknown. `name`: the readable name of the target.
    The rates of correct answers are None if nothing was scored.
    """

    model: str
    task: str
    score: str
    threshold: float
    confidence: float
    judged: OutcomeCounts
    letter: str = ""
    name: str = ""
    run: str | None = None
    slot: str | None = None
    concurrency: int | None = None
    working_seconds: float | None = None
    requests: int = 0
    requests_per_second: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ttft_p50: float | None = None
    ttft_p99: float | None = None
    latency_p50: float | None = None
    latency_p99: float | None = None
    correct_per_second: CorrectAnswerRate | None = None
    correct_per_1000_completion_tokens: CorrectAnswerRate | None = None
    correct_per_1000_tokens: CorrectAnswerRate | None = None
    by_speed: list[SpeedAccuracy] = []
    timings_valid: bool | None = None
    simulated: bool = False
    notes: list[str] = []


class Trend(Record, frozen=True):
    """Change of accuracy per doubling of concurrency, over the `samples` graded at all `levels`."""

    per_doubling: float
    samples: int
    levels: int
    test: str
    method: str
    low: float | None = None
    high: float | None = None
    p_value: float | None = None


class ConcurrencyRow(Record, frozen=True):
    """One run in the table by concurrency: a part of the `JointView` with the same `letter`, for display."""

    letter: str
    concurrency: int
    judged: OutcomeCounts
    run: str | None = None
    requests: int = 0
    requests_per_second: float | None = None
    ttft_p50: float | None = None
    ttft_p99: float | None = None
    correct_per_second: CorrectAnswerRate | None = None
    timings_valid: bool | None = None


class ByConcurrency(Record, frozen=True):
    """Runs that differ only in concurrency, the lowest first. `no_trend` is the reason why there is no `trend`."""

    model: str
    task: str
    score: str
    confidence: float
    rows: list[ConcurrencyRow]
    trend: Trend | None = None
    no_trend: str | None = None
    simulated: bool = False
