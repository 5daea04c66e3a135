"""Answers of a run drawn at random, to be labelled by a person or judged again."""

from __future__ import annotations

import numpy as np

from benchwright.analysis.judged.answers import judged_rows
from benchwright.app.judging.judged import JudgedAnswer, judged_answers, judged_score
from benchwright.errors import UserError
from benchwright.runs.manifest import read_manifest
from benchwright.runs.table import RunTable


def drawn_answers(table: RunTable, n: int, *, seed: int = 0, target: str | None = None) -> list[JudgedAnswer]:
    """So many answers with a verdict, or all where there are fewer, in random order; the same for the same seed.

    Raises:
        UserError: there is none, or no judge scored the run.
        JournalError: the journal cannot be read.
    """
    scorer = judged_score(read_manifest(table.directory))
    rows = np.sort(judged_rows(table, scorer, target))
    if not rows.size:
        raise UserError(f"{table.directory.name} has no answers that its judge has scored.")
    order = np.random.default_rng(seed).permutation(rows.size)[:n]
    return list(judged_answers(table, scorer, rows[order]))
