"""`compare`: `benchwright compare` from Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchwright.analysis.comparison.compare import ComparisonOptions
from benchwright.analysis.comparison.compare import compare as compare_references

if TYPE_CHECKING:
    from benchwright.analysis.comparison.records import Comparison
    from benchwright.analysis.export import LoadedRun
    from benchwright.api.results import BenchmarkRun, Evaluation


def compare(
    *runs: str | os.PathLike[str] | Evaluation | BenchmarkRun | LoadedRun,
    confidence: float = 0.95,
    anyway: bool = False,
    fail_if: Sequence[str] = (),
    max_regression: float | None = None,
    prove: bool = False,
) -> Comparison:
    """Compares the first run of each task with the others of it, sample by sample; of a single run, its models.

    Args:
        runs: results of other functions, ids or unique parts of them, directories, or result files; `RUN@SLOT` is one
            of a run's models. Folders of results are compared task by task, and all tasks together.
        confidence: that of intervals, tests and `max_regression`.
        anyway: whether runs are compared that are not comparable.
        fail_if: conditions such as `"accuracy < 0.7"`; with one that holds, `failed` of what is returned is true.
        max_regression: the loss, in units of the score, beyond which `failed` is true.
        prove: whether `failed` is true unless a smaller loss, or none, is shown.

    Raises:
        UserError: one of the runs cannot be found or read, or a condition is none.
    """
    references = [os.fspath(run if isinstance(run, str | os.PathLike) else run.directory) for run in runs]
    wanted = ComparisonOptions(confidence, anyway, tuple(fail_if), max_regression, prove)
    return compare_references(references, wanted).comparison
