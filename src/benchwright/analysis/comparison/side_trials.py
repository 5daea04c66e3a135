"""The trials of a run in the form that a comparison needs: each trial's sample, and its value by each score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.comparison.sides import CodedTexts, SideScoreColumn, SideTrials
from benchwright.analysis.scores import repeats_of
from benchwright.runs.counting_rules import ScoreState
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable

if TYPE_CHECKING:
    from benchwright.runs.columns import Rows


def trials_of(manifest: Manifest, table: RunTable, rows: Rows) -> SideTrials:
    """Return the samples, repeats, clusters and scores of the trials in `rows`.

    A benchmark has the scores `accuracy` and `score`, as in its result file.
    """
    scores = {name: _column(table, name, rows) for name in table.scores}
    if manifest.kind == "benchmark":
        scores = _benchmark_scores(table, manifest.scorers[0].name, rows)
    return SideTrials(
        samples_of(table, rows),
        table.repeat.numbers(rows)
        if repeats_of(manifest, table) > 1
        else np.broadcast_to(np.int64(0), rows.size),
        groups_of(table, rows),
        scores,
    )


def samples_of(table: RunTable, rows: Rows) -> CodedTexts:
    """Return the id of the sample of each trial in `rows`."""
    return CodedTexts(to_signed_integers(table.sample.compact_numbers(rows)), table.sample.sample_id)


def groups_of(table: RunTable, rows: Rows) -> CodedTexts:
    """Return, for each trial in `rows`, the cluster (such as a passage or repository) of its sample.

    If the run has no clusters, no trial gets a text.
    """
    if not len(table.groups):
        return CodedTexts.without_texts(rows.size)
    return CodedTexts(to_signed_integers(table.group.compact_numbers(rows)) - 1, table.groups.__getitem__)


def to_signed_integers(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return unsigned integers as signed integers.

    They take four bytes each, or eight if they do not fit into four.
    """
    return numbers.astype(np.int32 if numbers.max(initial=0) < 2**31 else np.int64)


def _column(table: RunTable, name: str, rows: Rows) -> SideScoreColumn:
    column = table.scores[name]
    return SideScoreColumn(column.values(rows), column.states(rows))


def _benchmark_scores(table: RunTable, scorer: str, rows: Rows) -> dict[str, SideScoreColumn]:
    score = _column(table, scorer, rows)
    correct = (table.correct[scorer].numbers(rows) == 2).astype(np.float64)
    accuracy = np.where(score.states == ScoreState.SCORED, correct, 0.0)
    return {"accuracy": SideScoreColumn(accuracy, score.states), "score": score}
