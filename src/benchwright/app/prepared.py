"""A run that is prepared: what `eval`, `run`, `pack run` and a level of `load` compose and `launch` runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from benchwright.config import Settings
from benchwright.endpoint.access import Access
from benchwright.endpoint.card.needs import Needs
from benchwright.endpoint.providers import ModelClient
from benchwright.engine.earlier import NO_REUSE, Reuse
from benchwright.engine.ledger import Retry
from benchwright.engine.plan import Plan
from benchwright.engine.run import RunResult
from benchwright.engine.shards import Recipe
from benchwright.engine.stop import StopRule
from benchwright.runs.keys import fingerprint, identity_of
from benchwright.runs.manifest import DataFile, names_of_models
from benchwright.runs.table import RunTable
from benchwright.text import Say

Report = TypeVar("Report")


class RunRequest(msgspec.Struct, frozen=True):
    """Everything that is needed to run a plan. `access` is that to each target, by slot, and is never written anywhere.

    `typed_models` are the models as the user typed them, by slot; `rules` stop the run besides the usual ones;
    `selection` says which samples of the data are meant; `about` is kept in the manifest; `retry` picks trials
    that are to be made again besides those that failed. `recipe` makes the plan's parts again in another process.
    `asking` are clients that the task asks by itself. `needs` says what the run needs of its endpoints.
    """

    kind: str
    name: str
    plan: Plan
    settings: Settings
    data: Sequence[DataFile] = ()
    pass_threshold: float = 1.0
    access: Mapping[str, Access] = {}
    typed_models: Mapping[str, str] = {}
    rules: Sequence[StopRule] = ()
    selection: Mapping[str, Any] = {}
    about: Mapping[str, Any] = {}
    retry: Retry | None = None
    recipe: Recipe | None = None
    asking: Sequence[ModelClient] = ()
    needs: Callable[[], Needs] = dict

    @property
    def wants_effort(self) -> bool:
        """Whether the report of the run needs to know what each trial took: all but plain evals."""
        return self.kind != "eval" or "load" in self.about

    @property
    def is_probed(self) -> bool:
        """Whether its endpoints are asked for their models first: not for levels of load, which that came before, nor
        where only answers of another program are graded."""
        return self.settings.probe and not {"load", "predictions"} & self.about.keys()

    @property
    def names(self) -> dict[str, str]:
        """What its models are called, by slot; empty where there is one."""
        slots = [target.slot for target in self.plan.targets]
        return names_of_models(slots, self.typed_models) if len(slots) > 1 else {}

    @property
    def fingerprint(self) -> str:
        """What makes two runs the same run."""
        plan = self.plan
        targets = [*plan.targets, *plan.helpers]
        return fingerprint(
            self.kind,
            plan.task.spec,
            [(data.xxh3, data.samples, data.offset, data.columns) for data in self.data],
            [(target.slot, *identity_of(target)) for target in targets],
            sorted((scorer.name, scorer.fingerprint) for scorer in plan.task.scorers),
            plan.repeats,
            plan.limits,
            self.pass_threshold,
            *([dict(self.selection)] if self.selection else []),
        )


class Shelf(Protocol):
    """Knows which run belongs to a request."""

    def run_of(self, make: Callable[[], Path], say: Say) -> AbstractAsyncContextManager[Path]:
        """The run's directory, found or made; held for as long as somebody works on it."""
        ...


class LaunchedRun(msgspec.Struct, frozen=True):
    """A run after a session on it, and its table; `result` is None where it was already finished, or decided."""

    directory: Path
    result: RunResult | None
    table: RunTable

    @property
    def finished(self) -> bool:
        """Whether the whole plan is done."""
        return self.table.sessions.state == "finished"

    @property
    def stop_reason(self) -> str | None:
        """Why this session ended before the plan was done; None where it was, or the question of the run is decided."""
        return None if self.result is None or self.result.decided else self.result.stop_reason


NOTHING_HELD: AbstractAsyncContextManager[Any] = nullcontext()


class PreparedRun(msgspec.Struct, Generic[Report], frozen=True):
    """A run that is ready to be launched: every check that needs no model has passed.

    `shelf` says which run it is, and `report` what it came to: it writes what every such run leaves behind.
    `facts` describe it besides what its plan says. `resume_note` is shown when it is resumed.
    `reuse` says what a new run takes over from earlier ones. `during` is open while the run is worked on, and is given
    what was done before. `at_end` is given the table when a session ends, however it ends, while the run is still held.
    `changed` says what makes it impossible to resume, if anything has changed since it was prepared. `doing` says
    what is going on beside the trials, such as a pull, for whoever shows progress. `held` is what was opened to prepare
    the run and serves it as well; `launch` closes it at its end.
    """

    request: RunRequest
    shelf: Shelf
    report: Callable[[LaunchedRun], Report]
    facts: Mapping[str, Any] = {}
    resume_note: str | None = None
    reuse: Callable[[Say], Reuse] = lambda say: NO_REUSE
    during: Callable[[RunTable], AbstractAsyncContextManager[Any]] = lambda table: nullcontext()
    at_end: Callable[[RunTable], None] = lambda table: None
    changed: Callable[[], str | None] = lambda: None
    doing: Callable[[], Sequence[str]] = lambda: ()
    held: AbstractAsyncContextManager[Any] = NOTHING_HELD


def describe(prepared: PreparedRun[Any]) -> dict[str, Any]:
    """What would be run, for `--dry-run`: the facts of its kind, those of its plan, and the noise of an earlier run."""
    from benchwright.analysis.noise import earlier_noise

    request, plan = prepared.request, prepared.request.plan
    models = {entry.title for entry in request.settings.tried}
    noise = earlier_noise(request.kind, [data.xxh3 for data in request.data], models)
    return {
        **prepared.facts,
        "task": plan.task.spec.name,
        "samples": plan.samples,
        "repeats": plan.repeats,
        "targets": [
            {"slot": target.slot, "model": target.model, "base_url": target.base_url, **target.settings}
            for target in [*plan.targets, *plan.helpers]
        ],
        **{name: request.about[name] for name in ("thinking", "recommended") if name in request.about},
        "trials": plan.trial_count,
        "scorers": [scorer.name for scorer in plan.task.scorers],
        "concurrency": prepared.request.settings.concurrency,
        "limits": msgspec.to_builtins(plan.limits),
        "smallest_detectable_difference": _detectable(plan.samples),
        **({"noise": noise} if noise else {}),
    }


def _detectable(samples: int) -> float | None:
    """The difference from a model that is right half the time that this many 0/1 samples show (80 % power)."""
    from benchwright.stats.power import detectable_proportion

    rate = detectable_proportion(0.5, samples)
    return None if rate is None else round(rate - 0.5, 4)
