"""Exports a run as logs of Inspect: an `.eval` archive for each target, written trial by trial.

Viewers and data frames read a list of the samples (`summaries.json`), and single samples on demand. The entry
in the list and the sample are made from the same record. Members of the archive are compressed by deflate,
which every reader of Inspect logs supports.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import benchwright
from benchwright.analysis.export.counted_trials import CountedTrial, counted_trials, file_name_part, iso_time
from benchwright.analysis.export.inspect_sample import InspectModel, inspect_sample_of, list_entry_of
from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import RunSummary, TargetSummary
from benchwright.files import atomic_file
from benchwright.records import Target
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.journal import encode_json
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable

MODEL_NAME_PREFIX = "openai-api/benchwright"
"""Prefix of a model's name in a log: Inspect's name for OpenAI-compatible endpoints, then the name of the service."""

STATUS_BY_STATE = {
    "finished": "success",
    "decided": "success",
    "stopped": "cancelled",
    "unfinished": "started",
}
COMPRESSION_LEVEL = 1
"""Deflate level of the archive. It is the fastest one: a log of 100,000 samples is written in seconds."""


def write_inspect_logs(manifest: Manifest, table: RunTable, directory: Path) -> Iterator[Path]:
    """Write the log of each target into a directory, and yield the paths.

    The table must be read with `effort=True`.

    Raises:
        UserError: If a file cannot be written.
        JournalError: If the journal cannot be read.
    """
    summary = summarise(manifest, table)
    for target, figures in zip(manifest.targets, summary.targets, strict=True):
        slot = "" if len(manifest.targets) == 1 else f"_{file_name_part(target.slot)}"
        path = directory / f"{manifest.id}{slot}.eval"
        with atomic_file(path) as file:
            _write(file, manifest, table, target, summary, figures)
        yield path


def _write(
    file: IO[bytes],
    manifest: Manifest,
    table: RunTable,
    target: Target,
    summary: RunSummary,
    figures: TargetSummary,
) -> None:
    model = InspectModel(f"{MODEL_NAME_PREFIX}/{target.model}", target.model)
    about = _about(manifest, target, model, figures)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION_LEVEL) as archive:
        archive.writestr("_journal/start.json", encode_json({"version": 2, "eval": about, "plan": {}}))
        with tempfile.TemporaryFile() as lines:
            usage = _write_samples(archive, lines, table, target, model)
            _write_list(archive, lines)
        archive.writestr("header.json", encode_json(_header(about, summary, figures, table, usage)))


def _write_samples(
    archive: zipfile.ZipFile, lines: IO[bytes], table: RunTable, target: Target, model: InspectModel
) -> dict[str, dict[str, int]]:
    """Write the samples to the archive, and the entries of the list to `lines`. Return the token counts by model."""
    sums: dict[str, dict[str, int]] = {}
    separator = b"["
    for one in counted_trials(table, target.slot):
        sample = inspect_sample_of(one, _earlier(table, one), model)
        archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", encode_json(sample))
        lines.write(separator + encode_json(list_entry_of(sample)))
        separator = b","
        for name, usage in sample["model_usage"].items():
            known = sums.setdefault(name, {})
            for kind, tokens in usage.items():
                known[kind] = known.get(kind, 0) + tokens
    lines.write(b"[]" if separator == b"[" else b"]")
    return sums


def _earlier(table: RunTable, counted: CountedTrial) -> list[ScoredTrial]:
    """Return the attempts at a trial that were made before the attempt that counts."""
    if table.count_attempts(counted.table_row) == 1:
        return []
    last = counted.trial.record.attempt
    return [one for one in table.read_attempts(counted.table_row) if one.record.attempt < last]


def _write_list(archive: zipfile.ZipFile, lines: IO[bytes]) -> None:
    lines.seek(0)
    with archive.open("summaries.json", "w", force_zip64=True) as member:
        shutil.copyfileobj(lines, member, 1 << 20)


def _about(manifest: Manifest, target: Target, model: InspectModel, figures: TargetSummary) -> dict[str, Any]:
    return {
        "eval_id": fingerprint(manifest.id, target.slot)[:22],
        "run_id": manifest.id,
        "created": iso_time(manifest.created_at),
        "task": manifest.task.name,
        "task_id": fingerprint(manifest.fingerprint, target.slot)[:22],
        "task_version": manifest.task.version,
        "dataset": {"name": manifest.task.name, "samples": figures.trials // max(1, manifest.repeats)},
        "model": model.name,
        "model_base_url": target.base_url,
        "model_generate_config": {
            name: value
            for name, value in target.settings.items()
            if name
            in (
                "temperature",
                "top_p",
                "top_k",
                "max_tokens",
                "seed",
                "frequency_penalty",
                "presence_penalty",
            )
        },
        "config": {"epochs": manifest.repeats},
        "packages": {"benchwright": benchwright.__version__},
        "scorers": [{"name": score.scorer} for score in figures.scores],
        "metadata": {"kind": manifest.kind, "name": manifest.name, "slot": target.slot},
    }


def _header(
    about: dict[str, Any],
    summary: RunSummary,
    figures: TargetSummary,
    table: RunTable,
    usage: dict[str, dict[str, int]],
) -> dict[str, Any]:
    sessions = table.sessions
    began = about["created"]
    ended = iso_time(sessions.ended_at) if sessions.ended_at else began
    return {
        "version": 2,
        "status": STATUS_BY_STATE.get(summary.state, "started"),
        "eval": about,
        "plan": {},
        "results": {
            "total_samples": figures.trials,
            "completed_samples": figures.trials - sum(figures.failures.values()),
            "scores": [_result(figures, place) for place in range(len(figures.scores))],
        },
        "stats": {"started_at": began, "completed_at": ended, "model_usage": usage},
    }


def _result(figures: TargetSummary, place: int) -> dict[str, Any]:
    """Return the entry of a score in the log's results.

    `mean` is our mean over the scored trials. A trial without an answer counts as 0, and failed trials are
    left out.
    """
    score = figures.scores[place]
    metrics: dict[str, Any] = {"mean": {"name": "mean", "value": score.mean_scored, "params": {}}}
    ends: dict[str, Any] = {"low": score.low, "high": score.high}
    if score.no_score is not None:
        metrics, ends = {}, {"no_score": str(score.no_score)}
    return {
        "name": score.scorer,
        "scorer": score.scorer,
        "scored_samples": score.n_scored - score.no_answer,
        "unscored_samples": score.n - score.n_scored + score.no_answer,
        "params": {},
        "metrics": metrics,
        "metadata": {
            "no_answer": score.no_answer,
            **ends,
            "method": score.method,
        },
    }
