"""Ranks within a column. They follow from pairwise tests as in `compare`, corrected for the number of tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from msgspec.structs import replace

from benchwright.analysis.comparison.figures import PairedOrUnpairedDifference, compute_difference, verdict_of
from benchwright.analysis.comparison.pairing import align_sides, with_common_codes
from benchwright.analysis.comparison.records import ComparisonVerdict
from benchwright.analysis.comparison.sides import Side
from benchwright.analysis.leaderboard.cell_score import CellScore
from benchwright.analysis.leaderboard.columns import TaskScore
from benchwright.analysis.leaderboard.entrants import Entrant
from benchwright.analysis.leaderboard.pack_totals import total_difference
from benchwright.stats.multiple_testing import holm_adjusted_p_values


class PairwiseTest(NamedTuple):
    """Pairwise test of entrant `b` against entrant `a` (by index) in a column.

    `p_adjusted` and `verdict` are corrected for all tests of the leaderboard.
    """

    column_name: str
    a: int
    b: int
    difference: PairedOrUnpairedDifference
    p_adjusted: float | None = None
    verdict: ComparisonVerdict = "undecided"
    lower_is_better: bool = False


def test_all_pairs(
    entrants: Sequence[Entrant], columns: Sequence[TaskScore], confidence: float
) -> tuple[list[PairwiseTest], int]:
    """Test all pairs of entrants in all columns. Return the tests with Holm's p-values, and the number of tests."""
    found = [contest for column in columns for contest in _in_column(entrants, column, confidence)]
    p_values = [one.difference.p_value for one in found if one.difference.p_value is not None]
    adjusted = iter(holm_adjusted_p_values(p_values).tolist())
    return [
        _judged(one, next(adjusted), confidence) if one.difference.p_value is not None else one
        for one in found
    ], len(p_values)


def _judged(contest: PairwiseTest, p_adjusted: float, confidence: float) -> PairwiseTest:
    verdict = verdict_of(
        contest.difference.difference, p_adjusted, 1 - confidence, lower_is_better=contest.lower_is_better
    )
    return contest._replace(p_adjusted=p_adjusted, verdict=verdict)


def _in_column(entrants: Sequence[Entrant], column: TaskScore, confidence: float) -> Iterator[PairwiseTest]:
    sides = _numbered([entrants[place].side for place in column.entrant_indices])
    scores = [entrants[place].scores[column.score] for place in column.entrant_indices]
    for one, other in combinations(range(len(sides)), 2):
        found = _difference(sides[one], scores[one], sides[other], scores[other], confidence)
        if found is not None:
            yield PairwiseTest(
                column.name,
                column.entrant_indices[one],
                column.entrant_indices[other],
                found,
                lower_is_better=column.lower_is_better,
            )


def _difference(
    side: Side, score: CellScore, other: Side, others: CellScore, confidence: float
) -> PairedOrUnpairedDifference | None:
    if score.score_column is None or others.score_column is None:
        return total_difference(score, others, confidence)
    return compute_difference(
        align_sides(side, other), score.score_column, others.score_column, "usual", confidence
    )


def _numbered(sides: Sequence[Side]) -> list[Side]:
    """Return the sides with common codes for their samples and clusters, so that they can be aligned quickly."""
    samples = with_common_codes([side.trials.samples for side in sides])
    groups = with_common_codes([side.trials.groups for side in sides])
    return [
        replace(side, trials=side.trials._replace(samples=its_samples, groups=its_groups))
        for side, its_samples, its_groups in zip(sides, samples, groups, strict=True)
    ]


def compute_ranks(members: Sequence[int], found: Sequence[PairwiseTest]) -> dict[int, int]:
    """Return the rank of each entrant: 1 + the number of entrants that are better.

    Entrants that were not compared with any other are left out.
    """
    compared = {place for one in found for place in (one.a, one.b)}
    worse = [
        one.a if one.verdict == "better" else one.b for one in found if one.verdict in ("better", "worse")
    ]
    return {place: 1 + worse.count(place) for place in members if place in compared}
