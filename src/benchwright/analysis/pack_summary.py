"""summary.json: what a pack's run came to, in the documented shape and with what that leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchwright import __version__
from benchwright.analysis.summary import RunSummary
from benchwright.errors import JournalError
from benchwright.files import write_whole
from benchwright.packs.results import Attempt, PackResults, PackScore
from benchwright.packs.run_files import RENDERED, read_events
from benchwright.packs.task import PackRunSetup
from benchwright.packs.versions import COMPATIBLE_VERSION
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import Manifest

SUMMARY = "summary.json"


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
    """The documented BenchPackRunSummary, and beside it versions, settings, tokens, times and all attempts.

    `statisticsByModel` has our own figures: scores with pass@k and variance, and requests with tokens and times.
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
        "resultsByModel": {ids[slot]: results.cells(slot) for slot in ids},
        "scores": {ids[slot]: one.score.raw for slot, one in scores.items() if one.score is not None},
        "scoreErrors": {ids[slot]: one.error for slot, one in scores.items() if one.error is not None},
        "attemptsByModel": {
            ids[slot]: {name: [_attempt(one) for one in attempts] for name, attempts in cells.items()}
            for slot, cells in results.attempts.items()
        },
        "statisticsByModel": {ids[one.slot]: one for one in summary.targets},
        "generation": setup.cells.generation,
        "models": [msgspec.to_builtins(model) for model in setup.models.values()],
        "packDigest": setup.digest,
        "metered": not setup.direct,
        "requestsOfNoCell": uncelled,
        "hostVersion": f"benchwright {__version__} (compatible with {COMPATIBLE_VERSION})",
    }
    return {name: value for name, value in document.items() if value is not None}


def write_summary(directory: Path, document: Mapping[str, Any]) -> None:
    """Writes summary.json whole, by rename.

    Raises:
        JournalError: the directory cannot be written.
    """
    write_whole(directory / RENDERED / SUMMARY, encode_json(document) + b"\n", error=JournalError)


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
