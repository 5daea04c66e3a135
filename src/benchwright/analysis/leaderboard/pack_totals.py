"""A pack's own totals in a leaderboard: their cells, and differences computed from the totals of single repeats."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from benchwright.analysis.comparison.figures import PairedOrUnpairedDifference
from benchwright.analysis.leaderboard.cell_score import CellScore
from benchwright.analysis.pack_runs import read_scores, totals_interval
from benchwright.analysis.scores import MAX_NO_SCORE_REASONS
from benchwright.packs.results import PackScore
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable
from benchwright.statistic import NoScore
from benchwright.stats.unpaired_tests import unpaired_difference

TOTAL_SCORE_NAME = "total"
"""The name under which a pack's total is listed as a score."""


def pack_totals(manifest: Manifest, table: RunTable) -> Mapping[str, CellScore]:
    """Return the total of each target of a pack's run, as a mapping from its slot.

    A total has no value if the pack has not computed it. The interval is for the mean of the totals of single
    repeats, by Student's t.

    Raises:
        JournalError: If the run cannot be read.
    """
    scores = read_scores(manifest, table)
    return {
        target.slot: _total(
            scores.get(target.slot, PackScore()), table.failure_reasons(table.counted_mask(target.slot))
        )
        for target in manifest.targets
    }


def _total(found: PackScore, reasons: Mapping[str, int]) -> CellScore:
    """Return a pack's total for a cell.

    The cell's mean is a `NoScore` if no (scenario, repeat) cell of the pack has a result. It is None if the
    pack has not computed the total.
    """
    if found.cells and found.missing_cells == found.cells:
        none = NoScore(found.cells, dict(islice(reasons.items(), MAX_NO_SCORE_REASONS)))
        return CellScore(found.cells, 0, none, none, none, "none")
    interval = None if found.score is None else totals_interval(found.totals)
    low, high = interval or (None, None)
    return CellScore(
        n=found.cells,
        n_scored=found.cells - found.missing_cells,
        mean=None if found.score is None else found.score.total_score,
        low=low,
        high=high,
        method="none" if interval is None else "t over repeats",
        repeat_totals=found.totals,
        totals_unit=(found.score.total_unit or "") if found.score is not None else "",
    )


def total_difference(a: CellScore, b: CellScore, confidence: float) -> PairedOrUnpairedDifference | None:
    """Return the difference B - A, computed from the totals of single repeats (Welch's t).

    Return None if a side has fewer than two totals, or is incomplete.
    """
    if any(len(one.repeat_totals) < 2 or one.n_scored < one.n for one in (a, b)):
        return None
    found = unpaired_difference(b.repeat_totals, a.repeat_totals, confidence=confidence)
    return PairedOrUnpairedDifference(
        0, found.mean_b, found.mean_a, found.difference, found.method, found.method, found.interval,
        found.p_value, found.se,
    )  # fmt: skip
