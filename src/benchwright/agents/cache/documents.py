"""The documented results of an eval, projected from a run's journal.

In these documents a run without a score counts as 0.0, the standard deviation is that of the population, and
pass@k is given for k of 1, 3, 5 and 10 up to the runs per row. The honest figures are in the summary.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from benchwright.engine.manifest import Manifest
from benchwright.records import FAILED, JournalLine, ScoreRecord, Status, TrialRecord

KS = (1, 3, 5, 10)


class DocumentedRun(msgspec.Struct, omit_defaults=False):
    """One run of one row, under the documented names. `tokens` counts prompt and completion."""

    row_index: int
    run_index: int
    success: bool
    scores: dict[str, float]
    duration_ms: float
    tokens: int
    model_tag: str | None
    error: str | None


def documented_runs(manifest: Manifest, lines: Iterable[JournalLine]) -> list[DocumentedRun]:
    """The finished runs of a journal by row, model (primary first) and run; of several attempts the last."""
    tagged = len(manifest.targets) > 1
    order = {target.slot: place for place, target in enumerate(manifest.targets)}
    scorers = [scorer.name for scorer in manifest.scorers]
    runs: dict[str, DocumentedRun] = {}
    for line in lines:
        if isinstance(line, TrialRecord) and line.status is not Status.CANCELLED:
            runs[line.key] = _run(line, scorers, tagged=tagged)
        elif isinstance(line, ScoreRecord) and line.trial in runs and line.value is not None:
            runs[line.trial].scores[line.scorer] = line.value
    return sorted(
        runs.values(), key=lambda run: (run.row_index, order.get(run.model_tag or "", 0), run.run_index)
    )


def _run(record: TrialRecord, scorers: Sequence[str], *, tagged: bool) -> DocumentedRun:
    success = record.status not in FAILED
    scores: dict[str, float] = {}
    if success:
        scores = dict.fromkeys(scorers, 0.0)
    return DocumentedRun(
        row_index=int(record.sample),
        run_index=record.repeat,
        success=success,
        scores=scores,
        duration_ms=round(record.duration / 1e6, 3),
        tokens=sum(request.usage.total_tokens for request in record.requests if request.role == "model"),
        model_tag=record.target if tagged else None,
        error=None if success else (record.reason or str(record.status)),
    )


def score_summaries(
    runs: Sequence[DocumentedRun], scorers: Sequence[str], n_runs: int, pass_threshold: float
) -> dict[str, dict[str, float]]:
    """{eval function: {mean, std, min, max, pass_at_1, ...}} over all these runs."""
    return {name: _summary(runs, name, n_runs, pass_threshold) for name in scorers}


def _summary(
    runs: Sequence[DocumentedRun], name: str, n_runs: int, pass_threshold: float
) -> dict[str, float]:
    values = [run.scores.get(name, 0.0) for run in runs]
    if not values:
        return {"mean": 0.0, "std": 0.0, "min": 0.0, "max": 0.0}
    mean = math.fsum(values) / len(values)
    summary = {
        "mean": mean,
        "std": math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)),
        "min": min(values),
        "max": max(values),
    }
    if n_runs > 1:
        summary |= _passes(runs, name, n_runs, pass_threshold)
    return summary


def _passes(runs: Sequence[DocumentedRun], name: str, n_runs: int, pass_threshold: float) -> dict[str, float]:
    from benchwright.stats.passk import pass_at_k

    passes: dict[int, int] = {}
    for run in runs:
        passed = run.success and run.scores.get(name, 0.0) >= pass_threshold
        passes[run.row_index] = passes.get(run.row_index, 0) + passed
    return {
        f"pass_at_{k}": math.fsum(pass_at_k(n_runs, min(n_runs, count), k) for count in passes.values())
        / len(passes)
        for k in KS
        if k <= n_runs
    }


def summary_document(manifest: Manifest, runs: Sequence[DocumentedRun]) -> dict[str, Any]:
    """The documented `summary`: the primary's scores, and totals over all runs."""
    primary = [run for run in runs if run.model_tag in (None, manifest.targets[0].slot)]
    names = [scorer.name for scorer in manifest.scorers]
    return {
        "total_rows": len({run.row_index for run in runs}),
        "total_runs": len(runs),
        "eval_fns": score_summaries(primary, names, manifest.repeats, manifest.pass_threshold),
        "total_tokens": sum(run.tokens for run in runs),
        "total_duration_ms": round(math.fsum(run.duration_ms for run in runs), 3),
    }


def model_summaries(manifest: Manifest, runs: Sequence[DocumentedRun]) -> list[dict[str, Any]]:
    """The documented `model_summaries`, one per model in the order primary, baseline."""
    names = [scorer.name for scorer in manifest.scorers]
    summaries = []
    for target in manifest.targets:
        own = [run for run in runs if run.model_tag == target.slot]
        summaries.append(
            {
                "model": manifest.typed_models.get(target.slot, target.model),
                "model_tag": target.slot,
                "total_runs": len(own),
                "total_tokens": sum(run.tokens for run in own),
                "total_duration_ms": round(math.fsum(run.duration_ms for run in own), 3),
                "eval_fns": score_summaries(own, names, manifest.repeats, manifest.pass_threshold),
            }
        )
    return summaries


def output_document(
    manifest: Manifest, runs: Sequence[DocumentedRun], stop_reason: str | None
) -> dict[str, Any]:
    """What `-o FILE` holds: config, summary, rows with their runs, and model_summaries with a baseline."""
    tagged = len(manifest.targets) > 1
    config: dict[str, Any] = {
        "model": manifest.typed_models.get(manifest.targets[0].slot, manifest.targets[0].model),
        "n_runs": manifest.repeats,
        "pass_threshold": manifest.pass_threshold,
        "eval_fns": [scorer.name for scorer in manifest.scorers],
    }
    summary = summary_document(manifest, runs)
    if stop_reason is not None:
        summary |= {"stopped_early": True, "stop_reason": stop_reason}
    rows: dict[int, list[dict[str, Any]]] = {}
    for run in runs:
        rows.setdefault(run.row_index, []).append(_nested(run))
    document: dict[str, Any] = {
        "config": config,
        "summary": summary,
        "rows": [{"row_index": index, "runs": listed} for index, listed in rows.items()],
    }
    if tagged:
        baseline = manifest.targets[1]
        config["baseline_model"] = manifest.typed_models.get(baseline.slot, baseline.model)
        document["model_summaries"] = model_summaries(manifest, runs)
    return document


def _nested(run: DocumentedRun) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.structs.asdict(run)
    del fields["row_index"]
    return {name: value for name, value in fields.items() if value is not None}
