"""Random selection of a run's answers, for a person to label or a judge to score again."""

from __future__ import annotations

import numpy as np

from benchwright.analysis.judged.answers import judged_rows
from benchwright.app.judging.run_judge import JudgedAnswer, judged_answers, judged_score_name
from benchwright.errors import UserError
from benchwright.runs.manifest import read_manifest
from benchwright.runs.table import RunTable


def draw_judged_answers(
    table: RunTable, n: int, *, seed: int = 0, target: str | None = None
) -> list[JudgedAnswer]:
    """Return n answers that have a verdict, in random order. Return all such answers if there are fewer than n.

    `seed`: determines the random order. `target`: take the answers of this model only.

    Raises:
        UserError: If there are no such answers, or no judge scored the run.
        JournalError: If the journal cannot be read.
    """
    scorer = judged_score_name(read_manifest(table.directory))
    rows = np.sort(judged_rows(table, scorer, target))
    if not rows.size:
        raise UserError(f"{table.directory.name} has no answers that its judge has scored.")
    order = np.random.default_rng(seed).permutation(rows.size)[:n]
    return list(judged_answers(table, scorer, rows[order]))
