"""Runs a `Task` that a user wrote against the engine's protocols."""

from __future__ import annotations

from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import RunSummary
from benchwright.app.models import find_models, short_name_of_models
from benchwright.app.prepared_run import LaunchedRun, PreparedRun, RunRequest
from benchwright.app.run_lookup.unfinished_runs import UnfinishedRunLookup
from benchwright.config import TaskSettings
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Task
from benchwright.errors import UserError
from benchwright.records import TrialLimits
from benchwright.runs.manifest import DataFile, read_manifest
from benchwright.text import Say


def prepare_task(task: Task, settings: TaskSettings, say: Say) -> PreparedRun[RunSummary]:
    """Check everything that can be checked without a request, and return the prepared run of a user's task.

    Raises:
        UserError: If the model, its address or its key is missing, or a sample is invalid.
    """
    if settings.endpoint.model is None:
        raise UserError("--model is required.")
    endpoint, sampling = settings.endpoint, settings.sampling
    body = {"temperature": sampling.temperature, "max_tokens": sampling.max_tokens, "seed": sampling.seed}
    models = find_models(endpoint, sampling, settings.thinking, {**body, **sampling.param}, say)
    samples, spec = task.size(), task.spec
    request = RunRequest(
        kind="eval",
        name=f"{spec.name}-{short_name_of_models([entry.title for entry in endpoint.models_under_test])}",
        plan=Plan(
            task=task,
            sample_count=samples,
            targets=models.targets,
            repeats=settings.scoring.n,
            limits=TrialLimits(
                turns=settings.solver.max_turns,
                tokens=settings.limits.trial_tokens,
                seconds=settings.limits.trial_seconds,
            ),
        ),
        settings=settings,
        data_files=(DataFile(path=spec.name, xxh3=spec.fingerprint, samples=samples),),
        pass_threshold=settings.scoring.pass_threshold,
        access=models.access,
        typed_models=models.display_names,
        manifest_facts=models.manifest_facts,
    )

    def report(launched: LaunchedRun) -> RunSummary:
        return summarise(read_manifest(launched.directory), launched.table)

    return PreparedRun(
        request,
        UnfinishedRunLookup(request.fingerprint, fresh=settings.resuming.fresh, finished=True),
        report,
    )
