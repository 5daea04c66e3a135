"""A task that somebody wrote against the engine's protocols, run as any other one."""

from __future__ import annotations

from benchwright.analysis.summary import RunSummary, summarise
from benchwright.app.prepared import LaunchedRun, PreparedRun, RunRequest
from benchwright.app.run_shelf import RunShelf
from benchwright.config import TaskSettings
from benchwright.endpoint.providers import check_target, find_key, find_target
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Task
from benchwright.errors import UserError
from benchwright.records import TrialLimits
from benchwright.runs.manifest import DataFile, read_manifest
from benchwright.text import Say


def prepare_task(task: Task, settings: TaskSettings, say: Say) -> PreparedRun[RunSummary]:
    """Checks what can be checked without asking the model, and composes the run.

    Raises:
        UserError: the model, its address or its key is missing, or a sample is not as it should be.
    """
    if settings.model is None:
        raise UserError("--model is required.")
    body = {"temperature": settings.temperature, "max_tokens": settings.max_tokens, "seed": settings.seed}
    target = find_target(settings.model, settings.base_url, "primary", {**body, **settings.param})
    given = None if settings.api_key is None else settings.api_key.get_secret_value()
    key = find_key(given, target, say)
    check_target(target, key)
    samples, spec = task.size(), task.spec
    request = RunRequest(
        kind="eval",
        name=f"{spec.name}-{settings.model.rpartition('/')[2]}",
        plan=Plan(
            task=task,
            samples=samples,
            targets=(target,),
            repeats=settings.n,
            limits=TrialLimits(
                turns=settings.max_turns, tokens=settings.trial_tokens, seconds=settings.trial_seconds
            ),
        ),
        settings=settings,
        data=(DataFile(path=spec.name, xxh3=spec.fingerprint, samples=samples),),
        pass_threshold=settings.pass_threshold,
        keys={"primary": key},
        typed_models={"primary": settings.model},
    )

    def report(launched: LaunchedRun) -> RunSummary:
        return summarise(read_manifest(launched.directory), launched.table)

    return PreparedRun(request, RunShelf(request.fingerprint, fresh=settings.fresh, finished=True), report)
