"""Results of a benchmark run: totals, figures and the documented result file, computed from the run's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchwright.analysis.benchmark_figures_file import write_figures
from benchwright.analysis.benchmark_file import (
    BenchmarkTotals,
    compute_totals,
    graded_trials,
    write_result_file,
)
from benchwright.analysis.summary import summarise, with_figures
from benchwright.analysis.summary_records import RunSummary, TargetSummary
from benchwright.app.prepared_run import LaunchedRun
from benchwright.app.run_lookup.unfinished_runs import mark_reported
from benchwright.catalog.benchmark import About, Benchmark, Figure, format_timestamp
from benchwright.catalog.containers.predictions import collect_predictions, write_predictions
from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.runs.manifest import Manifest, read_manifest


class BenchmarkReport(Record, frozen=True):
    """Results of a benchmark for one model.

    `model`: the model's name. `slot`: the model's key in the run. `path`: the model's result file; None if the run
    is not finished. `summary`: the summary of the whole run, with all models.
    """

    model: str
    slot: str
    manifest: Manifest
    summary: RunSummary
    totals: BenchmarkTotals
    figures: Sequence[Figure]
    path: Path | None

    @property
    def target(self) -> TargetSummary:
        """The summary of this report's model (the target whose slot is `slot`)."""
        return next(target for target in self.summary.targets if target.slot == self.slot)


def report_benchmark(
    benchmark: Benchmark, output_dir: Path, launched: LaunchedRun, more: Mapping[str, Any]
) -> list[BenchmarkReport]:
    """Return the report of a benchmark run for each model.

    If the run is finished, also write a result file for each model.

    `more`: fields that are added to the result files. For benchmarks that ask for patches, also write the
    predictions to separate files in the same directory, in the format of the official harness.

    Raises:
        UserError: If a file cannot be written.
        JournalError: If the journal cannot be read.
    """
    manifest = read_manifest(launched.directory)
    summary = summarise(manifest, launched.table)
    reports = [
        _report(benchmark, output_dir, launched, manifest, summary, target, more)
        for target in summary.targets
    ]
    figures = {report.slot: list(report.figures) for report in reports}
    if launched.is_finished:
        write_figures(launched.directory, figures)
        mark_reported(launched.directory)
    summary = replace(summary, targets=with_figures(summary.targets, figures))
    return [replace(report, summary=summary) for report in reports]


def _report(
    benchmark: Benchmark,
    output_dir: Path,
    launched: LaunchedRun,
    manifest: Manifest,
    summary: RunSummary,
    target: TargetSummary,
    more: Mapping[str, Any],
) -> BenchmarkReport:
    table, scorer = launched.table, benchmark.scorers[0].name
    model = manifest.typed_models.get(target.slot, target.model)
    rows = table.rows_in_start_order(table.counted_rows(target.slot))
    totals = compute_totals(table, rows, benchmark, target)
    figures = (
        []
        if totals.no_score is not None
        else benchmark.figures(graded_trials(table.read_trials(rows), scorer))
    )
    path = None
    if launched.is_finished:
        path = _result_path(benchmark.about, output_dir, model, format_timestamp(manifest.created_at))
        write_result_file(
            path, benchmark, manifest, summary, target, table.read_trials(rows), totals, figures, more
        )
        if "predictions" in benchmark.about.options:
            predictions = collect_predictions(graded_trials(table.read_trials(rows), scorer), model)
            write_predictions(path.with_suffix(".predictions.jsonl"), predictions)
    return BenchmarkReport(model, target.slot, manifest, summary, totals, figures, path)


def _result_path(metadata: About, directory: Path, model: str, moment: str) -> Path:
    """Return an unused path for a result file: `<output-dir>/<benchmark>_<model>_<timestamp>Z.json`.

    Slashes in the model's name become underscores. If that file exists already, a number is appended to its name.
    """
    name = metadata.name if metadata.variant is None else f"{metadata.name}-{metadata.variant}"
    safe = model.replace("/", "_").replace("\\", "_").replace("\0", "_")
    stem = f"{name}_{safe}_{moment}"
    for suffix in ("", *(f"-{number}" for number in range(2, 1000))):
        path = directory / f"{stem}{suffix}.json"
        if not path.exists():
            return path
    raise UserError(f"There are too many result files named {stem} in {directory}.")
