"""The joint view of quality and speed, of a run and of runs at several concurrencies, as plain data.

Times are in seconds.
"""

from __future__ import annotations

from typing import Literal

from benchwright.records import Record
from benchwright.statistic import Statistic

SpeedMetric = Literal["latency", "ttft"]


class CorrectAnswerRate(Record, frozen=True):
    """Number of correct answers per unit of `per` (seconds, or thousands of tokens).

    `low` and `high` are None if the data cannot support an interval. The interval treats `n_groups` clusters of
    trials as independent; a sample without a cluster is a cluster by itself.
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

    `correct` of `n` trials are right. `low` and `high` are the interval of `accuracy`, computed by `method`.
    """

    fastest: float
    slowest: float
    n: int
    correct: int
    accuracy: float
    low: float | None = None
    high: float | None = None
    method: str = "none"


class WithinSampleComparison(Record, frozen=True):
    """Comparison of right and wrong repeats of the same sample, over the `samples` that have both.

    `wrong_slower`: number of clusters of samples in which wrong answers were slower. `wrong_faster`: number of
    clusters in which they were faster. `ties`: number of clusters in which they were neither.
    """

    samples: int
    wrong_slower: int
    wrong_faster: int
    ties: int
    p_value: float | None = None


class SpeedAccuracy(Record, frozen=True):
    """Accuracy by one measure of speed, over the `n` trials that have an outcome and a time. The fastest
    bucket comes first.

    `untimed`: number of graded trials without such a time. `wrong_slower`: the probability that a wrong
    answer took longer than a right answer (0.5: no association). `p_value`: p-value of the hypothesis that
    this probability is 0.5, by `test`.
    """

    metric: SpeedMetric
    n: int
    correct: int
    untimed: int
    buckets: list[SpeedBucket]
    wrong_slower: float | None = None
    p_value: float | None = None
    test: str = "none"
    within: WithinSampleComparison | None = None


class OutcomeCounts(Record, frozen=True):
    """Number of trials by outcome. The counts add up to `trials`.

    `wrong`: trials with a score below the threshold. `no_answer`: trials in which no answer was found. `wrong`
    and `no_answer` trials count as wrong. `failed`: trials that failed (provider, agent, grader) and are
    neither right nor wrong. `reused`: trials that come from earlier runs; they are included in no other count
    except `trials`. `accuracy`: correct / (correct + wrong + no_answer), with the interval from `low` to
    `high`. All three are the same `NoScore` if every trial failed, and unknown if all trials were reused.
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
        """Denominator of the accuracy: the number of trials that are right or wrong."""
        return self.correct + self.wrong + self.no_answer


class JointView(Record, frozen=True):
    """Quality and speed of the requests that one target answered in one run.

    A trial is correct if its `score` is at least `threshold`. `judged`: number of trials by outcome.
    `working_seconds`: the time in which trials were in flight; None if unknown. `requests`: number of answered
    requests, over which percentiles are computed. `timings_valid`: None if unknown. `name`: the readable name
    of the target. The rates of correct answers are None if nothing was scored.
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
    """Change of accuracy per doubling of the concurrency, over the `samples` that were graded at all `levels`."""

    per_doubling: float
    samples: int
    levels: int
    test: str
    method: str
    low: float | None = None
    high: float | None = None
    p_value: float | None = None


class ConcurrencyRow(Record, frozen=True):
    """One run in the table by concurrency.

    For display, it has some fields of the `JointView` with the same `letter`.
    """

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


class ConcurrencyTable(Record, frozen=True):
    """Runs that differ only in concurrency. The lowest concurrency comes first.

    `no_trend`: the reason why there is no `trend`.
    """

    model: str
    task: str
    score: str
    confidence: float
    rows: list[ConcurrencyRow]
    trend: Trend | None = None
    no_trend: str | None = None
    simulated: bool = False
