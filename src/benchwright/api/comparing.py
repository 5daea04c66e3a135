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
    """Compare runs sample by sample: for each task, its first run with its other runs. Return the comparison.

    If only one run is given, its models are compared with each other.

    Args:
        runs: Results of other functions, ids or unique parts of ids, directories, or result files. `RUN@SLOT`
            is one of a run's models. Folders of results are compared task by task, and all tasks together.
        confidence: Confidence level of intervals, tests and `max_regression`.
        anyway: True compares runs that are not comparable.
        fail_if: Conditions such as `"accuracy < 0.7"`. If one holds, `failed` of the result is true.
        max_regression: Largest acceptable loss in units of the score. If it is exceeded, `failed` is true.
        prove: True also sets `failed` unless the loss is shown to be smaller, or, without `max_regression`,
            to be none.

    Raises:
        UserError: If a run cannot be found or read, or a condition is invalid.
    """
    references = [os.fspath(run if isinstance(run, str | os.PathLike) else run.directory) for run in runs]
    wanted = ComparisonOptions(confidence, anyway, tuple(fail_if), max_regression, prove)
    return compare_references(references, wanted).comparison
