"""A pack's run: writes its summary.json in the documented shape, and reads the run from its directory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import msgspec

from benchwright import __version__
from benchwright.analysis.json_documents import encode_document
from benchwright.analysis.shortfalls import count_without_result
from benchwright.analysis.summary_records import RunSummary
from benchwright.errors import ExecutionError, JournalError
from benchwright.files import write_atomically
from benchwright.packs.bridge.result_parsing import parse_score
from benchwright.packs.results import Attempt, PackResults, PackScore, group_attempts, read_attempts
from benchwright.packs.run_files import RENDERED, read_events
from benchwright.packs.task import PackRunSetup
from benchwright.packs.types import RegisteredModel, ScenarioMeta
from benchwright.packs.versions import COMPATIBLE_VERSION
from benchwright.records import DECODE_ERRORS, Record
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable
from benchwright.stats.intervals import Interval, t_interval

SUMMARY_FILE = "summary.json"


class _Scores(Record, frozen=True, rename={"score_errors": "scoreErrors", "totals": "totalsByRepeat"}):
    """The fields of summary.json that are read back: scores and errors by model."""

    scores: dict[str, Any]
    score_errors: dict[str, str] = {}
    totals: dict[str, list[float]] = {}


def summary_document(
    run: Manifest,
    directory: Path,
    setup: PackRunSetup,
    summary: RunSummary,
    results: PackResults,
    scores: Mapping[str, PackScore],
    *,
    completed_at: int,
    cancelled: bool,
    error: str | None,
    uncelled: int,
) -> dict[str, Any]:
    """Return the documented BenchPackRunSummary.

    Versions, settings, tokens, times and all attempts are added to it. `incompleteScores` names the models
    whose score includes cells without a result, with the number of these cells. `shortfalls` lists what failed.
    `statisticsByModel` has our own figures: scores with pass@k and variance, and requests with tokens and
    times.
    """
    manifest = setup.manifest
    ids = {slot: model.id for slot, model in setup.models.items()}
    document: dict[str, Any] = {
        "runId": run.id,
        "runDir": str(directory),
        "benchPackId": manifest.id,
        "benchPackName": manifest.name,
        "benchPackVersion": manifest.version,
        "executionMode": run.about["mode"],
        "runsPerTest": run.repeats,
        "startedAt": _moment(run.created_at),
        "completedAt": _moment(completed_at),
        "modelCount": len(setup.models),
        "scenarioCount": len(setup.scenarios),
        "cancelled": cancelled,
        "error": error,
        "events": read_events(directory),
        "resultsByModel": {ids[slot]: results.representative_results(slot) for slot in ids},
        "scores": {ids[slot]: one.score.raw for slot, one in scores.items() if one.score is not None},
        "totalsByRepeat": {ids[slot]: list(one.totals) for slot, one in scores.items() if one.totals},
        "scoreErrors": {ids[slot]: one.error for slot, one in scores.items() if one.error is not None},
        **({} if summary.decision is None else {"decision": msgspec.to_builtins(summary.decision)}),
        "incompleteScores": {
            ids[slot]: {"cells": one.cells, "withoutResult": one.missing_cells}
            for slot, one in scores.items()
            if one.missing_cells
        },
        "shortfalls": summary.shortfalls,
        "attemptsByModel": {
            ids[slot]: {name: [_attempt(one) for one in attempts] for name, attempts in cells.items()}
            for slot, cells in results.attempts.items()
        },
        "statisticsByModel": {ids[one.slot]: one for one in summary.targets},
        "generation": setup.cells.generation,
        "models": [msgspec.to_builtins(model) for model in setup.models.values()],
        "packDigest": setup.digest,
        "metered": not setup.bypasses_relay,
        "requestsOfNoCell": uncelled,
        "hostVersion": f"benchwright {__version__} (compatible with {COMPATIBLE_VERSION})",
    }
    return {name: value for name, value in document.items() if value is not None}


def write_summary(directory: Path, document: Mapping[str, Any]) -> None:
    """Write the complete summary.json. An earlier file is replaced atomically (by rename).

    Raises:
        JournalError: If the directory cannot be written.
    """
    write_atomically(
        directory / RENDERED / SUMMARY_FILE, encode_document(document) + b"\n", error=JournalError
    )


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "repeat": attempt.repeat,
        "outcome": str(attempt.status),
        "result": attempt.result,
        "requests": attempt.requests,
        "promptTokens": attempt.prompt_tokens,
        "completionTokens": attempt.completion_tokens,
        "durationMs": round(attempt.duration / 1e6, 3),
    }


def _moment(nanoseconds: int) -> str:
    moment = datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


class PackRun(Record, frozen=True):
    """A pack's run: its models by slot, its scenarios and attempts, and the pack's scores if the pack has
    computed them.
    """

    models: Mapping[str, RegisteredModel]
    scenarios: Sequence[ScenarioMeta]
    results: PackResults
    scores: Mapping[str, PackScore]


def load_pack_run(manifest: Manifest, table: RunTable) -> PackRun:
    """Read a pack's run, including the body of each attempt. The table must be read with `effort=True`.

    Raises:
        JournalError: If the journal cannot be read.
    """
    models = models_of(manifest)
    titles = manifest.about.get("scenarios", {})
    scenarios = [ScenarioMeta(name, title) for name, title in titles.items()]
    attempts = (attempt for _, attempt in read_attempts(table))
    results = group_attempts(attempts, list(models), list(titles))
    return PackRun(models, scenarios, results, read_scores(manifest, table))


def models_of(manifest: Manifest) -> dict[str, RegisteredModel]:
    """Return the models of a pack's run, as a mapping from the slot.

    Raises:
        JournalError: If the manifest's list of models is missing or invalid.
    """
    try:
        return msgspec.convert(manifest.about.get("models"), dict[str, RegisteredModel])
    except msgspec.ValidationError:
        raise JournalError(f"The models of {manifest.id} cannot be read.") from None


def read_scores(manifest: Manifest, table: RunTable) -> dict[str, PackScore]:
    """Read the pack's scores from summary.json, as a mapping from the slot.

    Empty if the run was never concluded.

    Raises:
        JournalError: If summary.json cannot be read.
    """
    path = table.directory / RENDERED / SUMMARY_FILE
    if not path.exists():
        return {}
    try:
        summary = msgspec.json.decode(path.read_bytes(), type=_Scores)
        found = {
            slot: PackScore(parse_score(summary.scores[model.id]), totals=summary.totals.get(model.id, ()))
            if model.id in summary.scores
            else PackScore(error=summary.score_errors[model.id])
            for slot, model in models_of(manifest).items()
            if model.id in summary.scores or model.id in summary.score_errors
        }
    except (*DECODE_ERRORS, ExecutionError) as error:
        raise JournalError(f"{path} cannot be read: {error}.") from None
    return with_cell_counts(found, manifest, table)


def totals_interval(totals: Sequence[float]) -> Interval | None:
    """Return the 95 % interval of the mean of a pack's totals of single repeats, by Student's t.

    Return None for fewer than two repeats. Return None also if all totals are equal, because their range is
    unknown.
    """
    if len(totals) < 2 or len(set(totals)) == 1:
        return None
    return t_interval(fmean(totals), stdev(totals) / math.sqrt(len(totals)), len(totals) - 1)


def with_cell_counts(
    scores: Mapping[str, PackScore], manifest: Manifest, table: RunTable
) -> dict[str, PackScore]:
    """Return the scores with two numbers added: of (scenario, repeat) cells, and of cells without a result."""
    cells = len(manifest.about.get("scenarios", {})) * manifest.repeats
    return {
        slot: msgspec.structs.replace(one, cells=cells, missing_cells=cells - _with_result(table, slot))
        for slot, one in scores.items()
    }


def _with_result(table: RunTable, slot: str) -> int:
    statuses = table.status_counts(table.counted_mask(slot))
    return sum(statuses.values()) - count_without_result(statuses)
