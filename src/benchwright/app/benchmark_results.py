"""What a benchmark's run came to: totals, figures and the documented result file, from its table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchwright.analysis.benchmark_file import Totals, add_up, graded, write_result_file
from benchwright.analysis.summary import RunSummary, summarise
from benchwright.app.benchmarks import BenchmarkRun, result_path
from benchwright.catalog.benchmark import Figure, timestamp
from benchwright.catalog.containers.predictions import predictions_of, write_predictions
from benchwright.records import Record
from benchwright.runs.manifest import Manifest, read_manifest
from benchwright.runs.table import RunTable


class BenchmarkReport(Record, frozen=True):
    """A benchmark's run in numbers; `path` is its result file, None where the run is not finished."""

    manifest: Manifest
    summary: RunSummary
    totals: Totals
    figures: Sequence[Figure]
    path: Path | None


def report(run: BenchmarkRun, table: RunTable, *, finished: bool, more: dict[str, Any]) -> BenchmarkReport:
    """Adds a run up and, once it is finished, writes its result file.

    Beside it lie the patches of benchmarks that ask for some, as the official harness reads them.

    Raises:
        JournalError: the journal cannot be read, or the file not be written.
    """
    benchmark = run.benchmark
    scorer = benchmark.scorers[0].name
    manifest = read_manifest(table.directory)
    summary = summarise(manifest, table)
    rows = table.in_order(table.counted("primary"))
    totals = add_up(table, rows, benchmark, summary.targets[0])
    figures = benchmark.figures(graded(table.trials(rows), scorer)) if len(rows) else ()
    path = None
    if finished:
        path = result_path(run, timestamp(manifest.created_at))
        write_result_file(path, benchmark, manifest, summary, table.trials(rows), totals, figures, more)
        if "predictions" in benchmark.about.options:
            predictions = predictions_of(graded(table.trials(rows), scorer), run.settings.model or "")
            write_predictions(path.with_suffix(".predictions.jsonl"), predictions)
    return BenchmarkReport(manifest, summary, totals, figures, path)
