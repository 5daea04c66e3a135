"""The trials of a run as a comparison sees them: which sample each is of, and what it is worth by each score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchwright.analysis.comparison.sides import Column, Labels, Trials
from benchwright.runs.counting import Standing
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable

Rows = NDArray[np.intp]


def trials_of(manifest: Manifest, table: RunTable, rows: Rows) -> Trials:
    """The identity and the scores of these trials; a benchmark has `accuracy` and `score`, as its result file."""
    groups = table.group.numbers()[rows] - 1
    scores = {name: _column(table, name, rows) for name in table.scores}
    if manifest.kind == "benchmark":
        scores = _benchmark_scores(table, manifest.scorers[0].name, rows)
    return Trials(
        Labels(table.sample.numbers()[rows], table.sample.name),
        table.repeat.numbers()[rows],
        Labels(groups, table.groups.__getitem__),
        scores,
    )


def _column(table: RunTable, name: str, rows: Rows) -> Column:
    column = table.scores[name]
    return Column(column.values()[rows], column.standings()[rows])


def _benchmark_scores(table: RunTable, scorer: str, rows: Rows) -> dict[str, Column]:
    score = _column(table, scorer, rows)
    correct = (table.correct[scorer].numbers()[rows] == 2).astype(np.float64)
    accuracy = np.where(score.states == Standing.SCORED, correct, 0.0)
    return {"accuracy": Column(accuracy, score.states), "score": score}
