"""Comparison of two folders over all their tasks: is B better than A on average over the tasks?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from benchwright.analysis.comparison.figures import verdict_of
from benchwright.analysis.comparison.pairing import SideMeans, sample_means
from benchwright.analysis.comparison.pairs import PairOfSides
from benchwright.analysis.comparison.records import AllTasksComparison
from benchwright.stats.arrays import are_binary, exact_mean
from benchwright.stats.clusters import ClusteredMean, group_codes, mean_of_numbered_clusters
from benchwright.stats.strata import mean_of_strata


class _Stratum(NamedTuple):
    """One task: its score, the means of both sides, and the mean difference with its standard error.

    The difference is B - A. If lower values of the score are better, it is A - B.
    """

    task: str
    score: str
    n: int
    mean_a: float
    mean_b: float
    gap: ClusteredMean


def compare_all_tasks(
    pairs: Sequence[PairOfSides], a: str, b: str, confidence: float
) -> AllTasksComparison | None:
    """Return the mean difference over the tasks of two folders. Each task counts with its first score.

    Return None if there are fewer than two tasks. A task is included if its samples are paired and its scores
    are between 0 and 1: differences in other units have no common mean. The tasks are treated as fixed, not as
    a sample from a population of tasks.
    """
    strata: list[_Stratum] = []
    left_out: list[str] = []
    for pair in pairs:
        why = _why_not(pair)
        if why is None:
            strata.append(_stratum(pair))
        else:
            left_out.append(f"{pair.comparison.task}: {why}")
    if len(strata) < 2:
        return None
    found = mean_of_strata([one.gap for one in strata], confidence)
    low, high = found.interval or (None, None)
    return AllTasksComparison(
        a=a,
        b=b,
        tasks=[one.task for one in strata],
        scores=[one.score for one in strata],
        n=sum(one.n for one in strata),
        mean_a=exact_mean(np.array([one.mean_a for one in strata])),
        mean_b=exact_mean(np.array([one.mean_b for one in strata])),
        difference=found.mean,
        verdict=verdict_of(found.mean, found.p_value, 1 - confidence),
        confidence=confidence,
        low=low,
        high=high,
        p_value=found.p_value,
        left_out=left_out,
    )


def with_adjusted_p_value(together: AllTasksComparison, p_adjusted: float | None) -> AllTasksComparison:
    """Return the comparison with its Holm-adjusted p-value, and with the verdict that follows from this p-value."""
    p_value = together.p_value if p_adjusted is None else p_adjusted
    verdict = verdict_of(together.difference, p_value, 1 - together.confidence)
    return msgspec.structs.replace(together, verdict=verdict, p_adjusted=p_adjusted)


def _why_not(pair: PairOfSides) -> str | None:
    """Return the reason why a task is excluded from the mean. None if the task is included."""
    if not pair.comparison.scores or pair.alignment is None:
        return "it is not compared"
    score = pair.comparison.scores[0]
    if score.unpaired is not None:
        return f"its samples are not paired, because {score.unpaired}"
    if not score.unit:
        return f"{score.title} does not lie between 0 and 1"
    if pair.alignment.sample_order is not None:
        return "one of its runs stopped early"
    if score.n < 2 or score.n_groups == 1:
        return "a single sample, or group, has no error"
    return None


def _stratum(pair: PairOfSides) -> _Stratum:
    score = pair.comparison.scores[0]
    assert pair.alignment is not None
    columns = pair.a.trials.scores[score.score], pair.b.trials.scores[score.score]
    sides = sample_means(pair.alignment, *columns, "usual")
    gap, mean_a, mean_b = mean_paired_difference(sides), score.mean_a, score.mean_b
    if score.lower_is_better:
        gap, mean_a, mean_b = gap._replace(mean=-gap.mean), 1 - mean_a, 1 - mean_b
    return _Stratum(pair.comparison.task, score.title, score.n, mean_a, mean_b, gap)


def mean_paired_difference(sides: SideMeans) -> ClusteredMean:
    """Return the mean paired difference with its standard error.

    The error is cluster-robust if there are clusters. For 0/1 scores without clusters, the error is that of
    Agresti and Min: half a pair is added to each of the four outcomes, so that the variance is not 0 even if no
    pair differs.
    """
    differences = sides.b - sides.a
    n = differences.size
    codes, n_groups = (np.arange(n), n) if sides.groups is None else group_codes(sides.groups)
    found = mean_of_numbered_clusters(differences, codes, n_groups)
    if found.has_clusters or not (are_binary(sides.a) and are_binary(sides.b)):
        return found
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    centre = (wins - losses) / (n + 2)
    return found._replace(se=math.sqrt(((wins + losses + 1) / (n + 2) - centre**2) / (n + 2)))
