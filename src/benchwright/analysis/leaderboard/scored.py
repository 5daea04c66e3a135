"""A score of an entrant in the form that leaderboard cells need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.comparison.sides import Column
from benchwright.analysis.summary_records import ScoreSummary
from benchwright.statistic import Statistic, numbers


class Scored(NamedTuple):
    """The figure of a cell: `mean` over `n_scored` of `n` trials, with the interval that `method` made.

    `column` has the values in the form that a comparison needs. A pack's own total has none, as it is not a
    mean of its cells: it has `totals` of single repeats, in `unit`.
    """

    n: int
    n_scored: int
    mean: Statistic
    low: Statistic
    high: Statistic
    method: str
    column: Column | None = None
    totals: Sequence[float] = ()
    unit: str = ""

    @property
    def values(self) -> NDArray[np.float64]:
        """The values (n,) that show the scale of the score."""
        if self.column is not None:
            return self.column.values
        return np.array([*self.totals, *numbers([self.mean])])


def scored_of(summary: ScoreSummary, column: Column) -> Scored:
    """Return a score from a run's summary and its column."""
    return Scored(
        summary.n,
        summary.n_scored,
        summary.mean_scored,
        summary.low,
        summary.high,
        summary.method,
        column,
    )
