"""Agreement of a judge's verdicts with human labels, and the mean score that humans would have given.

All corrected means get their interval by MOVER (method of variance estimates recovery: Zou and Donner 2008,
Stat. Med. 27:1693). Each estimate in the formula has its own interval; the distances to its ends are combined
in quadrature. Estimates that are proportions use Jeffreys' interval. docs/judges.md reports the coverage of
these intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from benchwright.stats.arrays import exact_mean, require_same_length, to_vector
from benchwright.stats.distributions import t_quantile
from benchwright.stats.intervals import Interval, critical_z, jeffreys_interval, wilson_interval

CorrectionMethod = Literal["post-stratified", "prediction-powered", "rogan-gladen"]


class RateEstimate(NamedTuple):
    """Estimate with its confidence interval, both ends included."""

    value: float
    low: float
    high: float


class AgreementCounts(NamedTuple):
    """Counts of answers by the judge's verdict and the human label, each right (1) or wrong (0).

    `both_right`: answers that are right by the verdict and by the label. `only_judge_right`: right by the verdict only.
    `only_human_right`: right by the label only. `neither_right`: wrong by the verdict and by the label.
    """

    both_right: int
    only_judge_right: int
    only_human_right: int
    neither_right: int

    @property
    def n(self) -> int:
        """Number of answers."""
        return sum(self)

    @property
    def judge_right_count(self) -> int:
        """Number of answers that are right by the judge's verdict."""
        return self.both_right + self.only_judge_right

    @property
    def human_right_count(self) -> int:
        """Number of answers that are right by the human label."""
        return self.both_right + self.only_human_right


class Agreement(msgspec.Struct, frozen=True, omit_defaults=True):
    """Agreement of a judge with humans on n answers.

    `sensitivity`: share of the answers right by the human that are also right by the judge. `specificity`:
    share of the answers wrong by the human that are also wrong by the judge. Each share is None if there are no
    such answers. `estimate_kappa` is None if the judge and the human gave all answers one and the same verdict, as
    chance would then agree just as well.
    """

    counts: AgreementCounts
    accuracy: RateEstimate
    kappa: RateEstimate | None
    sensitivity: RateEstimate | None
    specificity: RateEstimate | None

    @property
    def n(self) -> int:
        """Number of answers that both the judge and a human have judged."""
        return self.counts.n


class CorrectedMean(msgspec.Struct, frozen=True):
    """Estimate of the mean score that humans would have given if they had labelled all answers, with its
    interval and method.
    """

    mean: float
    low: float
    high: float
    method: CorrectionMethod


def count_agreement(labels: ArrayLike, verdicts: ArrayLike) -> AgreementCounts:
    """Count answers by human label (n,) and judge's verdict (n,). Labels and verdicts are 0 or 1.

    Raises:
        ValueError: If lengths differ.
    """
    human, judge = to_vector(labels, "labels") == 1, to_vector(verdicts, "verdicts") == 1
    require_same_length("labels", human.size, "verdicts", judge.size)
    cells = (human & judge, ~human & judge, human & ~judge, ~human & ~judge)
    return AgreementCounts(*(int(cell.sum()) for cell in cells))


def estimate_agreement(counts: AgreementCounts, confidence: float = 0.95) -> Agreement:
    """Return accuracy, sensitivity, specificity and Cohen's kappa. The first three have Wilson's interval.

    Raises:
        ValueError: If there are no labelled answers.
    """
    if counts.n == 0:
        raise ValueError("no labels: there is nothing to agree on")
    human_wrong = counts.n - counts.human_right_count

    def share(successes: int, n: int) -> RateEstimate | None:
        return RateEstimate(successes / n, *wilson_interval(successes, n, confidence)) if n else None

    agreeing = counts.both_right + counts.neither_right
    return Agreement(
        counts=counts,
        accuracy=RateEstimate(agreeing / counts.n, *wilson_interval(agreeing, counts.n, confidence)),
        kappa=estimate_kappa(counts, confidence),
        sensitivity=share(counts.both_right, counts.human_right_count),
        specificity=share(counts.neither_right, human_wrong),
    )


def estimate_kappa(counts: AgreementCounts, confidence: float = 0.95) -> RateEstimate | None:
    """Return Cohen's kappa: (observed - chance agreement) / (1 - chance agreement).

    The interval is kappa' ± z * se by the variance of Fleiss, Cohen and Everitt (1969), Psychol. Bull. 72:323.
    kappa' and se are computed from the counts with half an answer added to each count. So the interval has a
    width even if no answer is judged differently; in this case it ends at 1. None if the judge and the human
    gave all answers one and the same verdict.
    """
    value = _kappa(*counts)
    if value is None:
        return None
    smoothed = [one + 0.5 for one in counts]
    centre = _kappa(*smoothed)
    assert centre is not None
    half = critical_z(confidence) * math.sqrt(_kappa_variance(smoothed, centre))
    agreed = counts.only_judge_right == counts.only_human_right == 0
    low, high = max(-1.0, centre - half), 1.0 if agreed else min(1.0, centre + half)
    return RateEstimate(value, min(low, value), max(high, value))


def _kappa(both: float, judge_only: float, human_only: float, neither: float) -> float | None:
    n = both + judge_only + human_only + neither
    judge, human = (both + judge_only) / n, (both + human_only) / n
    chance = judge * human + (1 - judge) * (1 - human)
    return None if chance == 1 else ((both + neither) / n - chance) / (1 - chance)


def _kappa_variance(cells: Sequence[float], value: float) -> float:
    both, judge_only, human_only, neither = cells
    n = both + judge_only + human_only + neither
    judge, human = (both + judge_only) / n, (both + human_only) / n
    chance = judge * human + (1 - judge) * (1 - human)
    rest = 1 - value
    on = both * (1 - (judge + human) * rest) ** 2 + neither * (1 - (2 - judge - human) * rest) ** 2
    off = rest**2 * (judge_only * (human + 1 - judge) ** 2 + human_only * (judge + 1 - human) ** 2)
    return ((on + off) / n - (value - chance * rest) ** 2) / ((1 - chance) ** 2 * n)


def jeffreys_proportion(successes: float, n: float, confidence: float = 0.95) -> RateEstimate:
    """Return the proportion successes / n with Jeffreys' interval. If n is 0, return 0.5 with the interval (0, 1)."""
    return RateEstimate(successes / n if n else 0.5, *jeffreys_interval(successes, n, confidence))


def youden_index(counts: AgreementCounts, confidence: float = 0.95) -> RateEstimate:
    """Return Youden's index, sensitivity + specificity - 1, with its interval.

    It is 0 for a judge whose verdicts are pure chance, and 1 for a judge that never errs.
    """
    sensitivity = jeffreys_proportion(counts.both_right, counts.human_right_count, confidence)
    specificity = jeffreys_proportion(counts.neither_right, counts.n - counts.human_right_count, confidence)
    value = sensitivity.value + specificity.value - 1
    return RateEstimate(value, *mover_interval(value, [(1, sensitivity), (1, specificity)]))


def post_stratified_mean(
    counts: AgreementCounts,
    right: float,
    n: float,
    answered: RateEstimate | None = None,
    *,
    design_effect: float = 1.0,
    confidence: float = 0.95,
) -> CorrectedMean:
    """Estimate the mean of 0/1 human labels from labels of a random subset of the run's own answers.

    The estimate is p a + (1 - p) b. p = right / n is the share of all n answers that the judge found right. a
    is the share of labelled answers that humans found right, among those that the judge found right. b is the
    same share among the labelled answers that the judge found wrong. For 0/1 verdicts this is
    prediction-powered inference (Angelopoulos et al. 2023, arXiv:2301.09633) with the best weight for each
    verdict. `n` may be an effective number of answers. `design_effect` is the factor by which dependent labels
    (of repeats, or in clusters) raise the variance of their mean. For `answered`, see `mean_of_all_trials`.
    """
    share = jeffreys_proportion(right, n, confidence)
    both, human_only, found_right, found_wrong = (
        one / design_effect
        for one in (
            counts.both_right,
            counts.only_human_right,
            counts.judge_right_count,
            counts.n - counts.judge_right_count,
        )
    )
    if_right = jeffreys_proportion(both, found_right, confidence)
    if_wrong = jeffreys_proportion(human_only, found_wrong, confidence)
    p, a, b = share.value, if_right.value, if_wrong.value
    mean = p * a + (1 - p) * b
    ends = mover_interval(mean, [(a - b, share), (p, if_right), (1 - p, if_wrong)])
    return mean_of_all_trials(_within(mean, ends), answered, "post-stratified")


def rogan_gladen_mean(
    counts: AgreementCounts,
    right: float,
    n: float,
    answered: RateEstimate | None = None,
    confidence: float = 0.95,
) -> CorrectedMean:
    """Estimate the mean of 0/1 human labels from labels of answers that are not the run's own.

    The judge is assumed to err on this run's answers as often as on the labelled ones. Rogan and Gladen (1978),
    Am. J. Epidemiol. 107:71: t = (p - f) / (s - f), with p = right / n, s the judge's sensitivity and f its
    false positive rate. At the true t, p - t s - (1 - t) f is 0. The interval contains every t for which the
    MOVER interval of that expression contains 0: Fieller's method for a ratio, which holds however close s is
    to f. It is shorter than the one of Lang and Reiczigel (2014), Prev. Vet. Med. 113:13, which covers up to 99
    % with 50 labels. For `answered`, see `mean_of_all_trials`.

    Raises:
        ValueError: If the judge accepts right answers no more often than wrong ones.
    """
    share = jeffreys_proportion(right, n, confidence)
    sensitivity = jeffreys_proportion(counts.both_right, counts.human_right_count, confidence)
    false_right = jeffreys_proportion(
        counts.only_judge_right, counts.n - counts.human_right_count, confidence
    )
    spread = sensitivity.value - false_right.value
    if spread <= 0:
        raise ValueError(
            "a judge whose sensitivity and specificity add up to no more than 1 cannot be corrected for"
        )
    mean = min(1.0, max(0.0, (share.value - false_right.value) / spread))

    def ends_at(t: float) -> Interval:
        left = share.value - t * sensitivity.value - (1 - t) * false_right.value
        return mover_interval(left, [(1, share), (-t, sensitivity), (t - 1, false_right)])

    low = 0.0 if ends_at(0.0).low <= 0 else _root(lambda t: ends_at(t).low, 0.0, mean)
    high = 1.0 if ends_at(1.0).high >= 0 else _root(lambda t: ends_at(t).high, mean, 1.0)
    return mean_of_all_trials(RateEstimate(mean, min(low, mean), max(high, mean)), answered, "rogan-gladen")


def prediction_powered_mean(
    labels: ArrayLike,
    verdicts: ArrayLike,
    others: ArrayLike,
    answered: RateEstimate | None = None,
    *,
    design_effect: float = 1.0,
    label_effect: float = 1.0,
    confidence: float = 0.95,
) -> CorrectedMean:
    """Estimate the mean of graded human labels from labels (n,) of a random subset of the run's own answers.

    Labels are from 0 to 1. The estimate is w mean(others) + mean(labels - w verdicts): PPI++ (Angelopoulos,
    Duchi and Zrnic 2023, arXiv:2311.01453). `verdicts` (n,) are the judge's verdicts on the labelled answers,
    `others` (m,) its verdicts on the remaining answers. w in [0, 1] is tuned for the least variance. The
    interval is a t interval with n - 2 degrees of freedom. Dependent answers (repeats, groups) raise the
    variance of mean(others) by the factor `design_effect`, and the variance of the labels' mean by the factor
    `label_effect`. For `answered`, see `mean_of_all_trials`.

    Raises:
        ValueError: If there are fewer than 3 labels, or lengths differ.
    """
    y, f, rest = to_vector(labels, "labels"), to_vector(verdicts, "verdicts"), to_vector(others, "others")
    require_same_length("labels", y.size, "verdicts", f.size)
    if y.size < 3:
        raise ValueError(f"at least 3 labels are needed: {y.size}")
    everything = np.concatenate([f, rest])
    variance = float(everything.var(ddof=1)) * design_effect
    weight = 0.0
    if rest.size and variance > 0:
        shared = float(np.cov(y, f)[0, 1]) / (float(everything.var(ddof=1)) + variance * y.size / rest.size)
        weight = min(1.0, max(0.0, shared))
    left = y - weight * f
    mean = exact_mean(left) + (weight * exact_mean(rest) if weight else 0.0)
    se = math.sqrt(
        label_effect * float(left.var(ddof=1)) / y.size
        + (weight**2 * variance / rest.size if weight else 0.0)
    )
    half = t_quantile((1 + confidence) / 2, y.size - 2) * se
    return mean_of_all_trials(
        _within(min(1.0, max(0.0, mean)), Interval(mean - half, mean + half)), answered, "prediction-powered"
    )


def mover_interval(value: float, parts: Iterable[tuple[float, RateEstimate]]) -> Interval:
    """Return the MOVER interval of a function of independent estimates. `value`: the function's value.

    `parts` has one pair per estimate: the slope of the function with respect to the estimate, and the estimate
    with its interval.
    """
    below = above = 0.0
    for slope, part in parts:
        down, up = slope * (part.value - part.low), slope * (part.high - part.value)
        if slope < 0:
            down, up = -up, -down
        below += down * down
        above += up * up
    return Interval(value - math.sqrt(below), value + math.sqrt(above))


def mean_of_all_trials(
    judged: RateEstimate, answered: RateEstimate | None, method: CorrectionMethod
) -> CorrectedMean:
    """Return the mean over all trials. `judged`: the mean over the judged trials.

    Trials without an answer are not judged and count as 0. `answered` is the share of the trials that were
    judged. `answered` is None if all trials were judged.
    """
    if answered is not None:
        mean = judged.value * answered.value
        judged = _within(mean, mover_interval(mean, [(answered.value, judged), (judged.value, answered)]))
    return CorrectedMean(judged.value, judged.low, judged.high, method)


def _within(mean: float, ends: Interval) -> RateEstimate:
    return RateEstimate(mean, max(0.0, ends.low), min(1.0, ends.high))


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a decreasing function between low and high, by bisection."""
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2
