"""The counted trials of one target as columns of numbers, read from the table of its run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.labels import LabelColumn, label_columns
from benchwright.runs.counting_rules import FAILURE_STATUSES, NO_ANSWER_STATUSES, ScoreState
from benchwright.runs.table import STATUSES, RunTable
from benchwright.stats.arrays import Vector

if TYPE_CHECKING:
    from benchwright.runs.columns import Rows


class TrialColumns(NamedTuple):
    """Parallel columns of length n, in the order in which the trials were first started.

    `rows`: the trials' rows in the table. `failed_mask`: mask of failed trials. `no_answer_mask`: mask of trials
    without an answer. `flagged_mask`: mask of trials with flags. `started_at`, `duration_ns`: in ns. `latency`: total
    model time of a trial in seconds; NaN if nothing was timed. `prompt_tokens`: number of tokens of the first
    request; -1 if unknown. `scores`: mapping from the name of a score to its values, 0 without an answer and
    NaN for a failure.
    """

    rows: Rows
    failed_mask: NDArray[np.bool_]
    no_answer_mask: NDArray[np.bool_]
    flagged_mask: NDArray[np.bool_]
    started_at: NDArray[np.int64]
    duration_ns: NDArray[np.int64]
    latency: Vector
    prompt_tokens: NDArray[np.int64]
    scores: Mapping[str, Vector]
    labels: Mapping[str, LabelColumn]


def columns_of(table: RunTable, slot: str) -> TrialColumns:
    """Return the columns of one target. The table must be read with `effort=True`."""
    assert table.effort is not None
    rows = table.rows_in_start_order(table.counted_rows(slot))
    status = table.status.numbers(rows)
    return TrialColumns(
        rows=rows,
        failed_mask=np.isin(status, [STATUSES.index(one) for one in FAILURE_STATUSES]),
        no_answer_mask=np.isin(status, [STATUSES.index(one) for one in NO_ANSWER_STATUSES]),
        flagged_mask=np.isin(rows, table.flagged.flagged_rows()),
        started_at=np.array(table.effort.begun, np.int64)[rows],
        duration_ns=table.effort.took.numbers(rows),
        latency=np.array(table.effort.latency, np.float64)[rows],
        prompt_tokens=table.effort.first_prompt.numbers(rows) - 1,
        scores={name: _worth(table, name, rows) for name in table.scores},
        labels=label_columns(table, rows),
    )


def _worth(table: RunTable, scorer: str, rows: Rows) -> Vector:
    values = table.scores[scorer].values(rows)
    values[table.scores[scorer].states(rows) == ScoreState.FAILED] = np.nan
    return values
