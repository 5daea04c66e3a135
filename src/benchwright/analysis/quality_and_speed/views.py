"""The joint view of one run: rates of right answers, and whether slow answers are wrong more often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.comparison.sides import (
    ERROR,
    NO_ANSWER,
    SCORED,
    CodedTexts,
    Side,
    SideScoreColumn,
    TrialUsage,
)
from benchwright.analysis.quality_and_speed.records import (
    CorrectAnswerRate,
    JointView,
    OutcomeCounts,
    SpeedAccuracy,
    SpeedBucket,
    SpeedMetric,
    WithinSampleComparison,
)
from benchwright.analysis.scores import MeanWithInterval, mean_with_interval
from benchwright.statistic import NoScore
from benchwright.stats.arrays import CodeVector, Vector
from benchwright.stats.clusters import clustered_mean
from benchwright.stats.percentiles import percentile
from benchwright.stats.rank_tests import quantile_buckets, rank_association, within_sample_association
from benchwright.stats.ratios import clustered_ratio
from benchwright.stats.score_means import MeanEstimate, estimate_from_clusters

MIN_TIMED_TRIALS = 8
"""Minimum number of timed trials for a joint view: two in each quarter."""

NO_REASONS: Mapping[str, int] = {}

BooleanMask = NDArray[np.bool_]


def joint_view(side: Side, confidence: float = 0.95, score: str | None = None) -> JointView | None:
    """Return quality and speed of one run (a side) by one score. By default, it is the side's first score.

    Return None if fewer than `MIN_TIMED_TRIALS` trials have a time. Reused trials have no time.
    """
    effort, trials = side.usage, side.trials
    score = next(iter(trials.scores), None) if score is None else score
    if effort is None or score is None or np.count_nonzero(np.isfinite(effort.latency)) < MIN_TIMED_TRIALS:
        return None
    column = trials.scores[score]
    correct = correct_mask(column, side.pass_threshold)
    clusters = clusters_of(trials.samples, trials.groups)
    times = {name: values for name, values in side.timings.items() if values.size}
    facts = side.facts
    seconds = None if effort.seconds is None else _timed_seconds(effort, effort.seconds)
    outcomes = outcome_counts(
        column, correct, effort.reused_mask, clusters, confidence, side.failure_reasons(score)
    )
    rates = _Rates(effort, correct, trials.samples, trials.groups, confidence)
    rated = not isinstance(outcomes.accuracy, NoScore)
    counted = rated and not effort.uncounted_requests
    completion = effort.completion_tokens, effort.lost_work.completion_tokens
    total = effort.prompt_tokens + completion[0], effort.lost_work.prompt_tokens + completion[1]
    return JointView(
        model=facts.model,
        task=facts.task,
        score=score,
        threshold=side.pass_threshold,
        confidence=confidence,
        judged=outcomes,
        letter=facts.letter,
        name=facts.name,
        run=facts.run,
        slot=facts.slot,
        concurrency=facts.concurrency,
        working_seconds=seconds,
        requests=effort.requests,
        requests_per_second=effort.timed_requests / seconds if seconds else None,
        prompt_tokens=int(total[0].sum() + total[1].sum() - completion[0].sum() - completion[1].sum()),
        completion_tokens=int(completion[0].sum() + completion[1].sum()),
        ttft_p50=percentile(times["ttft"], 0.5) if "ttft" in times else None,
        ttft_p99=percentile(times["ttft"], 0.99) if "ttft" in times else None,
        latency_p50=percentile(times["latency"], 0.5) if "latency" in times else None,
        latency_p99=percentile(times["latency"], 0.99) if "latency" in times else None,
        correct_per_second=rates.per(effort.seconds, effort.lost_work.seconds, ~effort.unsettled_mask)
        if rated and effort.seconds is not None
        else None,
        correct_per_1000_completion_tokens=rates.per(*completion, unit=1000) if counted else None,
        correct_per_1000_tokens=rates.per(*total, unit=1000) if counted else None,
        by_speed=[
            found
            for metric in SPEED_METRICS
            if (found := _by_speed(metric, side, column, correct, clusters, confidence)) is not None
        ],
        timings_valid=facts.timings_valid,
        simulated=bool(facts.simulated),
        notes=list(_notes(effort)),
    )


def _timed_seconds(effort: TrialUsage, seconds: Vector) -> float:
    """Return the working time in seconds.

    Trials that were made before the concurrency had settled are left out. Cancelled trials are included.
    """
    return float(seconds[~effort.unsettled_mask].sum() + effort.lost_work.seconds.sum())


SPEED_METRICS: tuple[SpeedMetric, ...] = get_args(SpeedMetric)


def correct_mask(column: SideScoreColumn, threshold: float) -> BooleanMask:
    """Return a mask (n,) of the correct trials: those whose score is at least `threshold`."""
    found: BooleanMask = (column.states == SCORED) & (column.values >= threshold)
    return found


Clusters = CodeVector | range
"""Cluster code of each trial.

If each trial is a cluster by itself, the codes are a range, which takes no memory.
"""


def clusters_of(samples: CodedTexts, groups: CodedTexts) -> Clusters:
    """Return the cluster of each trial: the cluster of its sample (such as a passage).

    If the sample has no cluster, the sample itself is the cluster. A trial without a sample is a cluster by
    itself. If all trials are in one such cluster, its samples are treated as independent.
    """
    if samples.count_distinct() == len(samples) and not (groups.codes >= 0).any():
        return range(len(samples))
    _, codes = np.unique(samples.codes, return_inverse=True)
    codes = codes.astype(np.intp, copy=False)
    if np.unique(groups.codes).size > 1:
        codes = np.where(groups.codes >= 0, groups.codes + codes.max(initial=0) + 1, codes)
    alone = (samples.codes < 0) & (groups.codes < 0)
    codes[alone] = -1 - np.flatnonzero(alone)
    found: CodeVector = codes
    return found


def _of_these(clusters: Clusters, chosen: BooleanMask) -> Clusters:
    """Return the clusters of the trials that `chosen` (n,) selects."""
    return range(int(chosen.sum())) if isinstance(clusters, range) else clusters[chosen]


def outcome_counts(
    column: SideScoreColumn,
    correct: BooleanMask,
    reused: BooleanMask,
    clusters: Clusters,
    confidence: float,
    reasons: Mapping[str, int] = NO_REASONS,
) -> OutcomeCounts:
    """Return the number of trials by outcome, and the accuracy over the trials that are right or wrong.

    `reasons` are the reasons why trials failed, with counts. They are used only if all trials failed.
    """
    own = ~reused
    decided = own & (column.states != ERROR)
    failed = int(((column.states == ERROR) & own).sum())
    found = _accuracy(correct[decided], _of_these(clusters, decided), confidence)
    shown = MeanWithInterval(None, None, None)
    if found is not None:
        shown = mean_with_interval(found)
    elif failed:
        shown = mean_with_interval(NoScore(failed, dict(reasons)))
    return OutcomeCounts(
        trials=own.size,
        correct=int(correct[own].sum()),
        wrong=int(((column.states == SCORED) & ~correct & own).sum()),
        no_answer=int(((column.states == NO_ANSWER) & own).sum()),
        failed=failed,
        reused=int(reused.sum()),
        accuracy=shown.mean,
        low=shown.low,
        high=shown.high,
        method="none" if found is None else found.method,
    )


def _accuracy(correct: BooleanMask, clusters: Clusters, confidence: float) -> MeanEstimate | None:
    """Return the share of right trials with Wilson's interval. None if no trial is right or wrong.

    If trials share a cluster, the interval uses the effective sample size.
    """
    if not correct.size:
        return None
    pooled = clustered_mean(correct.astype(np.float64), clusters)
    return estimate_from_clusters(pooled, correct.size, proportion=True, confidence=confidence)


class _Rates:
    """Computes right answers per second or token. The time and tokens of failed and unfinished trials are included."""

    def __init__(
        self,
        effort: TrialUsage,
        correct: BooleanMask,
        samples: CodedTexts,
        groups: CodedTexts,
        confidence: float,
    ) -> None:
        lost = effort.lost_work
        self._own = ~effort.reused_mask
        self._correct = np.concatenate([correct[self._own], np.zeros(len(lost.samples), np.bool_)])
        everyone = clusters_of(samples.concatenate(lost.samples), groups.concatenate(lost.groups))
        self._clusters = _of_these(
            everyone, np.concatenate([self._own, np.ones(len(lost.samples), np.bool_)])
        )
        self._confidence = confidence

    def per(
        self, spent: Vector, lost: Vector, among: BooleanMask | None = None, unit: float = 1.0
    ) -> CorrectAnswerRate | None:
        """Return right answers per `unit` of the amount spent on trials (`spent`, (n,)) and cancelled trials
        (`lost`, (m,)).

        Return None if the amounts are 0. If `among` (n,) is given, only the trials for which it is True count.
        """
        amounts = np.concatenate([spent[self._own], lost]).astype(np.float64, copy=False)
        amounts /= unit
        outcomes, clusters = self._correct, self._clusters
        if among is not None and not among.all():
            chosen = np.concatenate([among[self._own], np.ones(lost.size, np.bool_)])
            amounts, outcomes, clusters = amounts[chosen], outcomes[chosen], _of_these(clusters, chosen)
        found = clustered_ratio(outcomes, amounts, clusters, confidence=self._confidence)
        if found is None:
            return None
        low, high = (None, None) if found.interval is None else found.interval
        correct = int(found.numerator)
        return CorrectAnswerRate(
            found.value, correct, found.denominator, found.n_groups, low, high, found.method
        )


def _by_speed(
    metric: SpeedMetric,
    side: Side,
    column: SideScoreColumn,
    correct: BooleanMask,
    clusters: Clusters,
    confidence: float,
) -> SpeedAccuracy | None:
    effort = side.usage
    assert effort is not None
    times = effort.latency if metric == "latency" else effort.ttft
    decided = ~effort.reused_mask & (column.states != ERROR)
    timed = decided & np.isfinite(times)
    if int(timed.sum()) < MIN_TIMED_TRIALS:
        return None
    values, outcomes = times[timed], correct[timed]
    labels = _of_these(clusters, timed)
    association = rank_association(outcomes, values, labels)
    within = None
    if side.trials.samples.count_distinct() < times.size:  # otherwise no sample has repeats
        samples = clusters_of(side.trials.samples, CodedTexts.without_texts(times.size))
        within = within_sample_association(outcomes, values, _of_these(samples, timed), labels)
    return SpeedAccuracy(
        metric=metric,
        n=values.size,
        correct=int(outcomes.sum()),
        untimed=int(decided.sum()) - values.size,
        buckets=_buckets(values, outcomes, labels, confidence),
        wrong_slower=association.probability_higher_at_0,
        p_value=association.p_value,
        test=association.test,
        within=None
        if within is None
        else WithinSampleComparison(
            within.n_samples, within.higher, within.lower, within.ties, within.p_value
        ),
    )


def _buckets(
    values: Vector, correct: BooleanMask, clusters: Clusters, confidence: float
) -> list[SpeedBucket]:
    found = []
    codes = quantile_buckets(values)
    for code in np.unique(codes).tolist():
        inside = codes == code
        accuracy = _accuracy(correct[inside], _of_these(clusters, inside), confidence)
        assert accuracy is not None
        low, high = (None, None) if accuracy.interval is None else accuracy.interval
        found.append(
            SpeedBucket(
                fastest=float(values[inside].min()),
                slowest=float(values[inside].max()),
                n=int(inside.sum()),
                correct=int(correct[inside].sum()),
                accuracy=accuracy.mean,
                low=low,
                high=high,
                method=accuracy.method,
            )
        )
    return found


def _notes(effort: TrialUsage) -> Iterable[str]:
    if effort.seconds is None:
        yield "it is not known when its trials ran, so correct answers per second cannot be computed"
    if effort.uncounted_requests:
        yield (
            f"{effort.uncounted_requests:,} of {effort.requests:,} answered requests came without token counts, "
            "so there are no correct answers per 1,000 tokens"
        )
    if effort.target_count > 1:
        yield (
            f"{effort.target_count} targets ran at the same time: correct answers per second are over the time in "
            "which this one's trials ran"
        )
