"""The figures of one score: difference, interval, test, sensitivity to unscored trials, and changed trials."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, cast, get_args

import msgspec
import numpy as np

from benchwright.analysis.comparison.pairing import (
    UNSCORED_VALUES,
    Alignment,
    SampleOrder,
    SideMeans,
    changed_trials,
    grouped_means,
    sample_means,
)
from benchwright.analysis.comparison.records import (
    ComparisonVerdict,
    CountingPolicy,
    PolicyResult,
    ScoreChange,
    ScoreComparison,
)
from benchwright.analysis.comparison.sides import ERROR, NO_ANSWER, Side, SideScoreColumn
from benchwright.stats.arrays import exact_mean
from benchwright.stats.clusters import clustered_mean
from benchwright.stats.distributions import t_cdf
from benchwright.stats.intervals import Interval, critical_z, t_interval
from benchwright.stats.paired_tests import mcnemar_test, paired_difference
from benchwright.stats.power import minimum_detectable_effect
from benchwright.stats.sequential.confidence_sequence import running_interval
from benchwright.stats.sequential.units import group_units
from benchwright.stats.unpaired_tests import unpaired_difference

SEQUENTIAL_METHOD = "betting-confidence-sequence"

COUNTING_POLICIES = cast("tuple[CountingPolicy, ...]", get_args(CountingPolicy))


class PairedOrUnpairedDifference(NamedTuple):
    """The difference B - A. Unscored trials are counted by one policy (see `CountingPolicy`).

    `standard_error`: standard error. None if the data cannot support one.
    """

    n: int
    mean_a: float
    mean_b: float
    difference: float
    method: str
    test: str
    interval: Interval | None
    p_value: float | None
    standard_error: float | None
    wins: int = 0
    losses: int = 0
    ties: int = 0
    n_groups: int | None = None
    p_exact: float | None = None


def compute_difference(
    aligned: Alignment, a: SideScoreColumn, b: SideScoreColumn, policy: CountingPolicy, confidence: float
) -> PairedOrUnpairedDifference | None:
    """Return the difference B - A by one counting policy. None if a side has no value.

    The difference is paired if some samples are on both sides.
    """
    sides = sample_means(aligned, a, b, policy)
    if aligned.unpaired_reason is None and aligned.sample_order is not None:
        return _stopped_early(sides, aligned.sample_order, confidence) if sides.a.size else None
    if aligned.unpaired_reason is None:
        return _paired(sides, confidence) if sides.a.size else None
    if not sides.all_means_a.size or not sides.all_means_b.size:
        return None
    if aligned.groups is not None:
        return _unpaired_groups(aligned, a, b, policy, confidence)
    found = unpaired_difference(sides.all_means_b, sides.all_means_a, confidence=confidence)
    return PairedOrUnpairedDifference(
        0, found.mean_b, found.mean_a, found.difference, found.method, found.method, found.interval,
        found.p_value, found.se,
    )  # fmt: skip


def _paired(sides: SideMeans, confidence: float) -> PairedOrUnpairedDifference:
    found = paired_difference(sides.b, sides.a, sides.groups, confidence=confidence)
    se = found.se
    if found.test == "mcnemar-mid-p" and not se and found.interval is not None:
        se = (found.interval.high - found.interval.low) / 2 / critical_z(confidence)
    return PairedOrUnpairedDifference(
        n=found.n,
        mean_a=found.mean_b,
        mean_b=found.mean_a,
        difference=found.difference,
        method=found.method,
        test=found.test,
        interval=found.interval,
        p_value=found.p_value,
        standard_error=se,
        wins=found.wins,
        losses=found.losses,
        ties=found.ties,
        n_groups=found.n_groups,
        p_exact=mcnemar_test(found.wins, found.losses).exact_p_value
        if found.test == "mcnemar-mid-p"
        else None,
    )


def _stopped_early(sides: SideMeans, order: SampleOrder, confidence: float) -> PairedOrUnpairedDifference:
    """Return the difference for two sides of which at least one stopped early.

    The number of samples of such a side depends on its results, so there is no p-value. The interval is valid
    at any stopping time (`stats.sequential`). The interval is None if both sides stopped early, each in a
    different order of samples.
    """
    assert sides.unit_positions is not None
    gaps = sides.b - sides.a
    interval = None
    if order.planned_units and np.abs(gaps).max() <= 1:
        in_order = np.argsort(sides.unit_positions, kind="stable")
        units = group_units(gaps[in_order], sides.unit_positions[in_order].tolist())
        interval = running_interval(
            units.means,
            order.planned_units,
            error=1 - confidence,
            weights=units.sizes / order.largest_unit_size,
        )
    return PairedOrUnpairedDifference(
        n=gaps.size,
        mean_a=exact_mean(sides.a),
        mean_b=exact_mean(sides.b),
        difference=exact_mean(gaps),
        method="none" if interval is None else SEQUENTIAL_METHOD,
        test="none",
        interval=interval,
        p_value=None,
        standard_error=None,
        wins=int((gaps > 0).sum()),
        losses=int((gaps < 0).sum()),
        ties=int((gaps == 0).sum()),
    )


def _unpaired_groups(
    aligned: Alignment, a: SideScoreColumn, b: SideScoreColumn, policy: CountingPolicy, confidence: float
) -> PairedOrUnpairedDifference | None:
    """Return the unpaired difference by a Welch test whose standard errors are cluster-robust on each side.

    A sample without an id counts as a cluster by itself. There is no interval and no test if a side has fewer
    than two clusters.
    """
    left, right = (
        clustered_mean(*grouped_means(aligned, codes, column, fill))
        for codes, column, fill in zip((aligned.a, aligned.b), (a, b), UNSCORED_VALUES[policy], strict=True)
    )
    gap = right.mean - left.mean
    if left.se is None or right.se is None or left.df is None or right.df is None:
        return PairedOrUnpairedDifference(0, left.mean, right.mean, gap, "none", "none", None, None, None)
    se = math.hypot(left.se, right.se)
    if se == 0:
        return PairedOrUnpairedDifference(0, left.mean, right.mean, gap, "none", "none", None, None, 0.0)
    df = se**4 / (left.se**4 / left.df + right.se**4 / right.df)
    p_value = 2 * t_cdf(-abs(gap) / se, df)
    interval = t_interval(gap, se, df, confidence)
    return PairedOrUnpairedDifference(
        0, left.mean, right.mean, gap, "cluster-welch", "cluster-welch", interval, p_value, se
    )


def _verdict(
    found: PairedOrUnpairedDifference, alpha: float, *, lower_is_better: bool = False
) -> ComparisonVerdict:
    """Return the verdict of a difference at significance level `alpha`.

    The verdict follows from the p-value. For a run that stopped early, it follows from the sequential interval.
    """
    if found.method == SEQUENTIAL_METHOD and found.interval is not None:
        low, high = found.interval
        return "better" if low > 0 else "worse" if high < 0 else "no difference found"
    return verdict_of(found.difference, found.p_value, alpha, lower_is_better=lower_is_better)


def verdict_of(
    gap: float, p_value: float | None, alpha: float, *, lower_is_better: bool = False
) -> ComparisonVerdict:
    """Return the verdict at significance level `alpha` for a difference B - A (`gap`) that has this p-value."""
    if lower_is_better:
        gap = -gap
    if p_value is None:
        return "undecided"
    if p_value > alpha or gap == 0:
        return "no difference found"
    return "better" if gap > 0 else "worse"


def compare_score(
    aligned: Alignment, a: Side, b: Side, score: str, confidence: float
) -> ScoreComparison | None:
    """Compare two sides by one score.

    Return None if a side has no value of the score. The verdict is not yet corrected for multiple tests, and
    the detectable effect is missing. `apply_holm_correction` adds both once all tests are known.
    """
    column_a, column_b = a.trials.scores[score], b.trials.scores[score]
    found = compute_difference(aligned, column_a, column_b, "usual", confidence)
    if found is None:
        return None
    usual = sample_means(aligned, column_a, column_b, "usual")
    lower_is_better = score in a.lower_is_better
    return ScoreComparison(
        score=score,
        n=found.n,
        n_a=usual.all_means_a.size,
        n_b=usual.all_means_b.size,
        mean_a=found.mean_a,
        mean_b=found.mean_b,
        difference=found.difference,
        verdict=_verdict(found, 1 - confidence, lower_is_better=lower_is_better),
        lower_is_better=lower_is_better,
        confidence=confidence,
        method=found.method,
        test=found.test,
        low=None if found.interval is None else found.interval.low,
        high=None if found.interval is None else found.interval.high,
        p_value=found.p_value,
        p_exact=found.p_exact,
        se=found.standard_error,
        unit=_in_unit(column_a) and _in_unit(column_b),
        wins=found.losses if lower_is_better else found.wins,
        losses=found.wins if lower_is_better else found.losses,
        ties=found.ties,
        n_groups=found.n_groups,
        unpaired=aligned.unpaired_reason,
        errors_a=column_a.count(ERROR),
        errors_b=column_b.count(ERROR),
        no_answer_a=column_a.count(NO_ANSWER),
        no_answer_b=column_b.count(NO_ANSWER),
        counted=_counted(aligned, column_a, column_b, confidence, lower_is_better=lower_is_better),
        changes=_changes(aligned, a, b, score),
    )


def _in_unit(column: SideScoreColumn) -> bool:
    return bool(((column.values >= 0) & (column.values <= 1)).all())


def _counted(
    aligned: Alignment, a: SideScoreColumn, b: SideScoreColumn, confidence: float, *, lower_is_better: bool
) -> list[PolicyResult]:
    """Return the difference by each alternative policy for unscored trials. Empty if every trial has a score."""
    if not any(column.count(state) for column in (a, b) for state in (ERROR, NO_ANSWER)):
        return []
    bounded = _in_unit(a) and _in_unit(b)
    found = []
    for policy in COUNTING_POLICIES[1:]:
        if policy in ("best", "worst") and not bounded:
            continue
        other = compute_difference(aligned, a, b, policy, confidence)
        if other is None:
            continue
        low, high = other.interval or (None, None)
        n = other.n
        verdict = _verdict(other, 1 - confidence, lower_is_better=lower_is_better)
        found.append(PolicyResult(policy, n, other.difference, verdict, low, high, other.p_value))
    return found


def _changes(aligned: Alignment, a: Side, b: Side, score: str) -> list[ScoreChange]:
    if aligned.unpaired_reason is not None:
        return []
    places = changed_trials(aligned, a, b, score)
    texts_a = a.extracted_answers(score, {one for one, _ in places})
    texts_b = b.extracted_answers(score, {other for _, other in places})
    values_a, values_b = a.trials.scores[score].values, b.trials.scores[score].values
    return [
        ScoreChange(
            a.trials.samples[one],
            int(a.trials.repeats[one]),
            float(values_a[one]),
            float(values_b[other]),
            texts_a.get(one),
            texts_b.get(other),
        )
        for one, other in places
    ]


def apply_holm_correction(
    comparison: ScoreComparison, p_adjusted: float | None, adjust: Callable[[float], float], tests: int
) -> ScoreComparison:
    """Return the comparison with its final verdict, as one of `tests` tests, and with its detectable effect.

    `p_adjusted`: the Holm-adjusted p-value; None if this is the only test. `adjust`: function from any
    p-value to the adjusted value that it would have in place of this test's p-value. It is used for the other
    counting policies. The detectable effect is computed at the strictest level that Holm can require, alpha /
    tests.
    """
    if comparison.method == SEQUENTIAL_METHOD:
        verdicts = {one.verdict for one in comparison.counted}
        return msgspec.structs.replace(comparison, depends=verdicts - {comparison.verdict} != set())
    alpha = 1 - comparison.confidence
    p_value = comparison.p_value if p_adjusted is None else p_adjusted
    lower = comparison.lower_is_better
    verdict = verdict_of(comparison.difference, p_value, alpha, lower_is_better=lower)
    counted = []
    for one in comparison.counted:
        p_other = None if one.p_value is None else adjust(one.p_value)
        counted.append(
            msgspec.structs.replace(
                one, verdict=verdict_of(one.difference, p_other, alpha, lower_is_better=lower)
            )
        )
    se = comparison.se
    return msgspec.structs.replace(
        comparison,
        verdict=verdict,
        p_adjusted=p_adjusted,
        counted=counted,
        depends=any(one.verdict != verdict for one in counted),
        detectable=minimum_detectable_effect(se, 1, alpha=alpha / tests) if se else None,
    )


def are_scores_identical(a: SideScoreColumn, b: SideScoreColumn) -> bool:
    """Return True if two scores of one side are identical in every trial."""
    return bool(np.array_equal(a.values, b.values) and np.array_equal(a.states, b.states))


def one_sided_bound(
    aligned: Alignment, a: SideScoreColumn, b: SideScoreColumn, confidence: float, *, lower: bool
) -> tuple[float, float | None, float | None]:
    """Return (difference B - A, one-sided bound of the difference, two-sided p-value).

    The bound is the upper bound at the one-sided `confidence`. If `lower` is True, it is the lower bound. It is
    None if the data support no interval. The lower bound is conservative against B: failed trials count as the
    worst for B.

    Raises:
        ValueError: If nothing can be compared.
    """
    failed = lower and any(column.count(ERROR) for column in (a, b))
    found = compute_difference(aligned, a, b, "worst" if failed else "usual", 2 * confidence - 1)
    if found is None:
        raise ValueError("a side has no scores")
    bound = None if found.interval is None else found.interval.low if lower else found.interval.high
    return found.difference, bound, found.p_value
