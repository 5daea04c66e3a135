"""pass@k and pass^k of a score over several repeats per sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchwright.analysis.scores import repeats_of, score_scale_of
from benchwright.records import Record
from benchwright.runs.columns import true_indices
from benchwright.runs.counting_rules import FAILURE_STATUSES, ScoreState
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import STATUSES, RunTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class PassAtK(Record, frozen=True):
    """pass@k (at least one of k repeats passes) and pass^k (all of k repeats pass), averaged over samples.

    `samples`: number of samples with k repeats or more. `too_few`: number of samples with fewer repeats, which
    are left out. There are such samples if the run is not finished, or if repeats were lost.
    """

    k: int
    pass_at_k: float
    pass_hat_k: float
    low: float | None = None
    high: float | None = None
    samples: int = 0
    too_few: int = 0


def pass_at_k_of(manifest: Manifest, table: RunTable, score: str, rows: NDArray[np.bool_]) -> list[PassAtK]:
    """Return pass@k and pass^k of a score over the trials in `rows`, for each documented k.

    A k for which no sample has enough repeats is left out. A sample counts with the n repeats that were made, c
    of which passed. A failed repeat did not pass (the documented rule). A missing repeat counts neither as
    passed nor as not passed. Return an empty list without repeats, or if the score has no pass threshold.
    """
    import numpy as np

    from benchwright.stats.documented_statistics import SampleRunCounts, mean_pass_at
    from benchwright.stats.passk import mean_pass_at_k, mean_pass_hat_k

    passing, repeats = score_scale_of(manifest, score).pass_threshold, repeats_of(manifest, table)
    if passing is None or repeats < 2:
        return []
    made = _made(table, score, rows)
    states, values = table.scores[score].states(made), table.scores[score].values(made)
    samples, first, place = np.unique(table.sample.numbers(made), return_index=True, return_inverse=True)
    passed = (states != ScoreState.FAILED) & (values >= passing)
    tries = SampleRunCounts(
        np.bincount(place, minlength=len(samples)), np.bincount(place[passed], minlength=len(samples))
    )
    group = table.group.numbers(made[first])
    result = []
    for k, mean in mean_pass_at(tries, repeats).items():
        enough = tries.run_counts >= k
        n, c = tries.run_counts[enough].tolist(), tries.pass_counts[enough].tolist()
        groups = [code or None for code in group[enough].tolist()] if group.any() else None
        low, high = mean_pass_at_k(n, c, k, groups).interval or (None, None)
        hat = mean_pass_hat_k(n, c, k).mean
        result.append(PassAtK(k, mean.mean, hat, low, high, mean.samples, len(samples) - mean.samples))
    return result


def _made(table: RunTable, score: str, rows: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Return the rows of the trials that were completed: those with a score, and those that failed."""
    import numpy as np

    some = true_indices(rows)
    failed = np.isin(table.status.numbers(some), [STATUSES.index(one) for one in FAILURE_STATUSES])
    made: NDArray[np.uint32] = some[failed | (table.scores[score].states(some) != ScoreState.FAILED)]
    return made
