"""Creates the manifest (the stored description) of a new run, before its first trial."""

from __future__ import annotations

from typing import Any

from benchwright.app.environment_facts import client_facts, host_facts, library_versions
from benchwright.app.prepared_run import RunRequest
from benchwright.config import Settings
from benchwright.engine.protocols import JudgingScorer, Scorer
from benchwright.runs.manifest import Manifest, ScorerInfo


def manifest_of(request: RunRequest, identity: str, digest: str, created_at: int) -> Manifest:
    """Return the manifest of a new run. `created_at` is wall-clock time in ns."""
    plan = request.plan
    return Manifest(
        id=identity,
        kind=request.kind,
        name=request.name,
        fingerprint=digest,
        created_at=created_at,
        task=plan.task.spec,
        targets=list(plan.targets),
        helpers=list(plan.helper_targets),
        scorers=[scorer_info(scorer) for scorer in plan.task.scorers],
        repeats=plan.repeats,
        limits=plan.limits,
        concurrency=None
        if request.settings.execution.concurrency == "auto"
        else request.settings.execution.concurrency,
        stream=request.settings.execution.stream,
        pass_threshold=request.pass_threshold,
        data=list(request.data_files),
        typed_models=dict(request.typed_models),
        settings=_plain_settings(request.settings),
        about=dict(request.manifest_facts),
        versions=library_versions(),
        host=host_facts(),
        client=client_facts(stream=request.settings.execution.stream),
    )


def scorer_info(scorer: Scorer) -> ScorerInfo:
    """Return the description of a scorer for the manifest."""
    judging = scorer.judge_info if isinstance(scorer, JudgingScorer) else None
    return ScorerInfo(scorer.name, scorer.fingerprint, judging)


def _plain_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that the user gave (not the defaults), without secrets."""
    return settings.model_dump(
        mode="json", exclude={"api_key", "baseline_api_key", "run"}, exclude_defaults=True
    )
