"""Comparison of runs for the viewer: the result, and the distributions of their request times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchwright.analysis.comparison.compare import ComparisonOptions, compare_references
from benchwright.analysis.comparison.records import Comparison
from benchwright.analysis.comparison.references import ResolvedReference, resolve_reference
from benchwright.analysis.report.records import DistributionChart
from benchwright.analysis.report.run_sections import request_times
from benchwright.analysis.report.time_charts import time_distributions
from benchwright.records import Record
from benchwright.stats.arrays import Vector


class ComparisonWithTimes(Record, frozen=True):
    """A comparison of runs, and the distributions of the request times of each run."""

    comparison: Comparison
    times: list[DistributionChart]


def compare_runs(references: Sequence[str], options: ComparisonOptions) -> ComparisonWithTimes:
    """Return the comparison of runs, each given as `ID`, `ID@SLOT` or a directory.

    Raises:
        UserError: If a reference matches nothing, or there is nothing to compare.
        JournalError: If a journal cannot be read.
    """
    found = [resolve_reference(reference) for reference in references]
    comparison = compare_references(found, options).comparison
    sides = zip(found, comparison.runs, strict=True)
    return ComparisonWithTimes(
        comparison, time_distributions({run.letter: _times(one, run.slot) for one, run in sides})
    )


def _times(one: ResolvedReference, slot: str | None) -> Mapping[str, Vector]:
    return {} if one.run is None or slot is None else request_times(one.run.table, slot)
