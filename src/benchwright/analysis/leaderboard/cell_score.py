"""A score of an entrant in the form that leaderboard cells need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.comparison.sides import SideScoreColumn
from benchwright.analysis.summary_records import ScoreSummary
from benchwright.statistic import Statistic, numeric_statistics


class CellScore(NamedTuple):
    """The score that a cell shows: the `mean` over `n_scored` of `n` trials, with its interval by `method`.

    `score_column`: the value of each trial, for comparisons; None for a pack's own total, which is not a mean over
    trials. `repeat_totals`: a pack's totals of single repeats, in `totals_unit`.
    """

    n: int
    n_scored: int
    mean: Statistic
    low: Statistic
    high: Statistic
    method: str
    score_column: SideScoreColumn | None = None
    repeat_totals: Sequence[float] = ()
    totals_unit: str = ""

    @property
    def values(self) -> NDArray[np.float64]:
        """The values (n,) of the score. They show on which scale the score is."""
        if self.score_column is not None:
            return self.score_column.values
        return np.array([*self.repeat_totals, *numeric_statistics([self.mean])])


def cell_score_of(summary: ScoreSummary, column: SideScoreColumn) -> CellScore:
    """Return a score for a cell, from the score's summary in a run and its column of values."""
    return CellScore(
        summary.n,
        summary.n_scored,
        summary.mean_scored,
        summary.low,
        summary.high,
        summary.method,
        column,
    )
