"""Exports a benchmark's run as `.eval_results` of a model's repository on the Hugging Face Hub.

The Hub only accepts results of its own Benchmark datasets, under the task names in each dataset's `eval.yaml`.
It does not specify the unit. `HUB_BENCHMARKS` lists the datasets whose results are known to appear in
repositories on the Hub, all of them in percent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import benchwright
from benchwright.analysis.export.counted_trials import file_name_part
from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import RunSummary, ScoreSummary, TargetSummary
from benchwright.analysis.suspicious_passes import suspicious_lines
from benchwright.errors import UserError
from benchwright.files import write_atomically
from benchwright.runs.manifest import Manifest
from benchwright.runs.manifest_facts import subject_of
from benchwright.runs.table import RunTable
from benchwright.statistic import is_number


class HubBenchmark(NamedTuple):
    """A Benchmark dataset of the Hub, one of its tasks, and a remark for readers on which samples we use."""

    dataset: str
    task: str
    note: str = ""


HUB_BENCHMARKS = {
    "hle": HubBenchmark("cais/hle", "hle", "questions without pictures"),
    "hle:images": HubBenchmark("cais/hle", "hle"),
    "mmlu_pro": HubBenchmark("TIGER-Lab/MMLU-Pro", "mmlu_pro"),
    "swe_bench": HubBenchmark("SWE-bench/SWE-bench_Verified", "swe_bench_%_resolved"),
    "swe_bench_pro": HubBenchmark("ScaleAI/SWE-bench_Pro", "SWE_Bench_Pro"),
    "terminal_bench": HubBenchmark("harborframework/terminal-bench-2.0", "terminalbench_2"),
}


def write_hub_results(manifest: Manifest, table: RunTable, directory: Path) -> Iterator[Path]:
    """Write `.eval_results/BENCHMARK.yaml` for each target, and yield the paths.

    If there are several targets, each has a separate folder. A run is refused if a leaderboard could not show
    it beside other results. Four kinds of runs are refused: a run on a part of the samples, a run that
    departs from the authors' protocol, an unfinished run, and a run with answers of a simulated server.

    Raises:
        UserError: If the run is refused, or a file cannot be written.
    """
    summary = summarise(manifest, table)
    subject = subject_of(manifest)
    benchmark = HUB_BENCHMARKS.get(subject) if manifest.kind == "benchmark" else None
    if benchmark is None:
        raise UserError(
            f"{manifest.id} is not a run of a benchmark that the Hugging Face Hub ranks: {', '.join(HUB_BENCHMARKS)}."
        )
    if objections := list(_objections(manifest, summary)):
        raise UserError(
            f"{manifest.id} cannot be published as a result of {subject}: {'; '.join(objections)}."
        )
    for figures in summary.targets:
        folder = directory if len(summary.targets) == 1 else directory / file_name_part(figures.slot)
        path = folder / ".eval_results" / f"{file_name_part(subject)}.yaml"
        write_atomically(path, _entry(manifest, benchmark, figures).encode())
        yield path


def _objections(manifest: Manifest, summary: RunSummary) -> Iterator[str]:
    if summary.state != "finished":
        yield f"the run is {summary.state}"
    if summary.simulated:
        yield "a simulated server answered"
    yield from manifest.about.get("departures") or ()
    for figures in summary.targets:
        if (none := _score(manifest, figures).no_score) is not None:
            yield f"{figures.title}: {none}"


def _score(manifest: Manifest, figures: TargetSummary) -> ScoreSummary:
    """Return the summary of the benchmark's main score."""
    name = manifest.about.get("metric")
    return next((one for one in figures.scores if one.scorer == name), figures.scores[0])


def _entry(manifest: Manifest, benchmark: HubBenchmark, figures: TargetSummary) -> str:
    """Return the run's entry for `.eval_results`, as a YAML list with one item.

    Strings are quoted as in JSON, which is also valid YAML. No number is written with an exponent.
    """
    score = _score(manifest, figures)
    assert is_number(score.mean_scored)  # otherwise there are objections
    day = datetime.fromtimestamp(manifest.created_at / 1e9, UTC).strftime("%Y-%m-%d")
    return "\n".join(
        [
            "- dataset:",
            f"    id: {json.dumps(benchmark.dataset)}",
            f"    task_id: {json.dumps(benchmark.task)}",
            f"  value: {100 * score.mean_scored:.4f}",
            f"  date: {json.dumps(day)}",
            f"  notes: {json.dumps(', '.join(_notes(manifest, benchmark, figures, score)))}",
            "",
        ]
    )


def _notes(
    manifest: Manifest, benchmark: HubBenchmark, figures: TargetSummary, score: ScoreSummary
) -> Iterator[str]:
    yield f"benchwright {benchwright.__version__}"
    yield f"{score.n_samples:,} samples" if manifest.repeats == 1 else f"mean of {manifest.repeats} repeats"
    if benchmark.note:
        yield benchmark.note
    yield from suspicious_lines(figures.suspicious)
    if failed := score.n - score.n_scored:
        yield f"{failed:,} of {score.n:,} trials failed and are left out"
