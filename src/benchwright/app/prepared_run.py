"""A prepared run. `eval`, `run`, `pack run` and the levels of `load` make one, and `launch` executes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from benchwright.app.run_lookup import RunLookup
from benchwright.config import Settings
from benchwright.endpoint.access import Access
from benchwright.endpoint.card.needs import Needs
from benchwright.endpoint.providers import ModelClient
from benchwright.engine.ledger import RetryCondition
from benchwright.engine.plan import Plan
from benchwright.engine.run import RunResult
from benchwright.engine.shards import WorkerSpec
from benchwright.engine.stop_rules import StopRule
from benchwright.engine.trial_reuse import NO_REUSE, Reuse
from benchwright.runs.keys import fingerprint, target_identity
from benchwright.runs.manifest import DataFile, display_names_of_models
from benchwright.runs.table import RunTable
from benchwright.text import Say

RunReport = TypeVar("RunReport")


class RunRequest(msgspec.Struct, frozen=True):
    """Everything that is needed to run a plan.

    `access`: access to each target by slot; never written to any file. `typed_models`: models as the user
    typed them, by slot. `stop_rules`: stop rules in addition to those that every run has. `sample_selection`:
    the selected samples of the data. `manifest_facts`: facts for the manifest. `retry_condition`: test of
    earlier trials, True for those to retry even if their status is not retried; None without such a test.
    `worker_spec`: builds the plan's parts in another process. `direct_clients`: clients that the task uses
    directly. `find_needs`: features that the run needs of its endpoints.
    """

    kind: str
    name: str
    plan: Plan
    settings: Settings
    data_files: Sequence[DataFile] = ()
    pass_threshold: float = 1.0
    access: Mapping[str, Access] = {}
    typed_models: Mapping[str, str] = {}
    stop_rules: Sequence[StopRule] = ()
    sample_selection: Mapping[str, Any] = {}
    manifest_facts: Mapping[str, Any] = {}
    retry_condition: RetryCondition | None = None
    worker_spec: WorkerSpec | None = None
    direct_clients: Sequence[ModelClient] = ()
    find_needs: Callable[[], Needs] = dict

    @property
    def wants_usage(self) -> bool:
        """True if the run's report needs the usage and time of each trial.

        That holds for all runs except plain evals.
        """
        return self.kind != "eval" or "load" in self.manifest_facts

    @property
    def is_probed(self) -> bool:
        """True if endpoints are asked for their models before the first trial.

        False for load levels, because the load measurement itself asks the endpoints. False for runs that only
        grade another program's answers.
        """
        return self.settings.execution.probe and not {"load", "predictions"} & self.manifest_facts.keys()

    @property
    def display_names(self) -> dict[str, str]:
        """Display names of the models by slot. Empty if there is only one model."""
        slots = [target.slot for target in self.plan.targets]
        return display_names_of_models(slots, self.typed_models) if len(slots) > 1 else {}

    @property
    def fingerprint(self) -> str:
        """Digest of everything that two sessions must have in common to be the same run."""
        plan = self.plan
        targets = [*plan.targets, *plan.helper_targets]
        return fingerprint(
            self.kind,
            plan.task.spec,
            [(data.xxh3, data.samples, data.offset, data.columns) for data in self.data_files],
            [(target.slot, *target_identity(target)) for target in targets],
            sorted((scorer.name, scorer.fingerprint) for scorer in plan.task.scorers),
            plan.repeats,
            plan.limits,
            self.pass_threshold,
            *([dict(self.sample_selection)] if self.sample_selection else []),
        )


class LaunchedRun(msgspec.Struct, frozen=True):
    """A run after a session, with its table.

    `session_result`: the result of the session; None if there was no session, because the run was already finished or
    decided.
    """

    directory: Path
    session_result: RunResult | None
    table: RunTable

    @property
    def is_finished(self) -> bool:
        """True if all trials of the plan are done."""
        return self.table.sessions.state == "finished"

    @property
    def stop_reason(self) -> str | None:
        """Reason why the session ended early.

        None if all trials of the plan are done, or if the run's question is decided.
        """
        return (
            None
            if self.session_result is None or self.session_result.is_decided
            else self.session_result.stop_reason
        )


NO_RESOURCES: AbstractAsyncContextManager[Any] = nullcontext()


class PreparedRun(msgspec.Struct, Generic[RunReport], frozen=True):
    """A run that is ready to be launched: every check that needs no model has passed.

    `lookup`: finds or makes the run. `write_report`: writes and returns the run's results.
    `description_facts`: facts that describe the run besides its plan. `resume_note`: a note that is shown
    when the run is resumed. `find_reuse`: finds trials of earlier runs that a new run takes over.
    `run_context`: context that is open while the run is in progress; it receives the table of the trials done
    in earlier sessions. `on_session_end`: called with the table at the end of every session, while the run is
    still locked. `find_change_reason`: returns a reason why the run can no longer be resumed, if anything has
    changed since it was prepared. `describe_activities`: returns lines on activities beside the trials, such
    as the pull of an image, for progress displays. `resources`: resources that are opened during preparation,
    and that the run uses too; `launch` closes them.
    """

    request: RunRequest
    lookup: RunLookup
    write_report: Callable[[LaunchedRun], RunReport]
    description_facts: Mapping[str, Any] = {}
    resume_note: str | None = None
    find_reuse: Callable[[Say], Reuse] = lambda say: NO_REUSE
    run_context: Callable[[RunTable], AbstractAsyncContextManager[Any]] = lambda table: nullcontext()
    on_session_end: Callable[[RunTable], None] = lambda table: None
    find_change_reason: Callable[[], str | None] = lambda: None
    describe_activities: Callable[[], Sequence[str]] = lambda: ()
    resources: AbstractAsyncContextManager[Any] = NO_RESOURCES


def describe_run(prepared: PreparedRun[Any]) -> dict[str, Any]:
    """Return the description of a run for `--dry-run`: its facts, its plan, and the noise in an earlier run."""
    from benchwright.analysis.noise import earlier_noise

    request, plan = prepared.request, prepared.request.plan
    models = {entry.title for entry in request.settings.endpoint.models_under_test}
    noise = earlier_noise(request.kind, [data.xxh3 for data in request.data_files], models)
    return {
        **prepared.description_facts,
        "task": plan.task.spec.name,
        "samples": plan.sample_count,
        "repeats": plan.repeats,
        "targets": [
            {"slot": target.slot, "model": target.model, "base_url": target.base_url, **target.settings}
            for target in [*plan.targets, *plan.helper_targets]
        ],
        **{
            name: request.manifest_facts[name]
            for name in ("thinking", "recommended")
            if name in request.manifest_facts
        },
        "trials": plan.trial_count,
        "scorers": [scorer.name for scorer in plan.task.scorers],
        "concurrency": prepared.request.settings.execution.concurrency,
        "limits": msgspec.to_builtins(plan.limits),
        "smallest_detectable_difference": _detectable(plan.sample_count),
        **({"noise": noise} if noise else {}),
    }


def _detectable(samples: int) -> float | None:
    """Return the smallest difference from a rate of 0.5 that this many 0/1 samples detect. The power is 80 %.

    None if there are too few samples.
    """
    from benchwright.stats.power import detectable_proportion

    rate = detectable_proportion(0.5, samples)
    return None if rate is None else round(rate - 0.5, 4)
