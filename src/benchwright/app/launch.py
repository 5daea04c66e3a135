"""Launching: from a plan to a finished run directory, the same for every kind of task."""

from __future__ import annotations

import resource
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import Any, Protocol

import msgspec

from benchwright.app.endpoints import make_client
from benchwright.app.facts import client_facts, host_facts, versions
from benchwright.config import Settings
from benchwright.endpoint.providers import ModelClient
from benchwright.engine.adaptive.executor import AdaptiveExecutor, Paced
from benchwright.engine.earlier import NO_REUSE, Reuse
from benchwright.engine.executor import Executor, LocalExecutor
from benchwright.engine.ledger import Retry
from benchwright.engine.plan import Plan
from benchwright.engine.progress import HearsPace
from benchwright.engine.run import Listener, RunResult, run
from benchwright.engine.shards import ProcessShards, Recipe, ShardedExecutor, ShardParts, ray_shards
from benchwright.engine.stop import StopRule, SystemicErrors, TimeBudget, TokenBudget
from benchwright.errors import JournalError, UserError
from benchwright.records import ASKED_AGAIN, FAILED, RunEvent, Target
from benchwright.runs import store
from benchwright.runs.journal import Journal
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import DataFile, Manifest, ScorerInfo, write_manifest
from benchwright.runs.table import RunTable, read_table
from benchwright.text import Say

DESCRIPTORS_FOR_FILES = 100


class Launch(msgspec.Struct, frozen=True):
    """Everything that is needed to run a plan. `keys` maps slots to keys and is never written anywhere.

    `typed_models` are the models as the user typed them, by slot; `rules` stop the run besides the usual ones;
    `selection` says which samples of the data are meant; `about` is kept in the manifest; `retry` picks trials
    that are to be made again besides those that failed. `recipe` makes the plan's parts again in another process.
    `asking` are clients that the task asks by itself.
    """

    kind: str
    name: str
    plan: Plan
    settings: Settings
    data: Sequence[DataFile] = ()
    pass_threshold: float = 1.0
    keys: Mapping[str, str | None] = {}
    typed_models: Mapping[str, str] = {}
    rules: Sequence[StopRule] = ()
    selection: Mapping[str, Any] = {}
    about: Mapping[str, Any] = {}
    retry: Retry | None = None
    recipe: Recipe | None = None
    asking: Sequence[ModelClient] = ()

    @property
    def wants_effort(self) -> bool:
        """Whether those who conclude the run want to know what each trial took: all but plain evals."""
        return self.kind != "eval" or "load" in self.about

    @property
    def fingerprint(self) -> str:
        """What makes two runs the same run."""
        plan = self.plan
        return fingerprint(
            self.kind,
            plan.task.spec,
            [(data.xxh3, data.samples, data.offset, data.columns) for data in self.data],
            [(target.slot, target.model, target.base_url, target.settings) for target in _all_targets(plan)],
            sorted((scorer.name, scorer.fingerprint) for scorer in plan.task.scorers),
            plan.repeats,
            plan.limits,
            self.pass_threshold,
            *([dict(self.selection)] if self.selection else []),
        )


class Ended(msgspec.Struct, frozen=True):
    """A run, how the session on it ended, and its table; `result` is None where it was already finished."""

    directory: Path
    result: RunResult | None
    table: RunTable


class Shelf(Protocol):
    """Knows which run belongs to a request."""

    def run_of(self, make: Callable[[], Path], say: Say) -> AbstractAsyncContextManager[Path]:
        """The run's directory, found or made; held for as long as somebody works on it."""
        ...


During = Callable[[RunTable], AbstractContextManager[None]]
"""What is to be open while a run is worked on; is given what was done before."""


async def launch(
    request: Launch,
    listeners: Sequence[Listener],
    say: Say,
    shelf: Shelf,
    reuse: Reuse = NO_REUSE,
    at_end: Callable[[RunTable], None] = lambda table: None,
    during: During = lambda table: nullcontext(),
) -> Ended:
    """Starts a run, goes on with an unfinished one, or finds a finished one: `shelf` says which it is.

    A new run takes over what `reuse` holds. A finished one is only gone on with to try failed trials again.
    The run's journal is read once; `during` is entered when what it held before is known.
    However the session ends, `at_end` is given the table while the run is still held.

    Raises:
        RunLocked: another process is at it, and did not end in time.
        UserError, JournalError: see `engine.run.run`.
    """
    _check_one_process(request)
    found = shelf.run_of(lambda: _make(request), say)
    async with found as directory, store.run_lock(directory, say):
        table = read_table(directory, effort=request.wants_effort)
        with during(table):
            if table.sessions.state == "finished" and not has_more(table, request):
                at_end(table)
                return Ended(directory, None, table)
            try:
                result = await _run(request, table, listeners, reuse)
            except BaseException:
                with suppress(JournalError):  # what went wrong first is what is to be told
                    table.advance()
                    at_end(table)
                raise
        table.advance()
        at_end(table)
        return Ended(directory, result, table)


def has_failures(table: RunTable) -> bool:
    """Whether any trial of a run ended, at the attempt that counts, without an answer, or was cut off."""
    return any(table.status_of(row) in FAILED for row in range(len(table)))


def has_more(table: RunTable, request: Launch) -> bool:
    """Whether a finished run has trials that the request wants to be made again."""
    if request.retry is None:
        return request.settings.retry_failed and has_failures(table)
    return any(request.retry(trial.record) for trial in table.trials(range(len(table))))


def _make(request: Launch) -> Path:
    now = store.now_ns()
    digest = request.fingerprint
    directory = store.new_run_directory(request.name, digest, now)
    write_manifest(directory, _manifest(request, directory.name, digest, now))
    return directory


async def _run(request: Launch, table: RunTable, listeners: Sequence[Listener], reuse: Reuse) -> RunResult:
    settings = request.settings
    clients = make_clients(request, settings.most_in_flight)
    journal = Journal(table.directory, fsync=settings.fsync)
    try:
        again = FAILED if settings.retry_failed else ASKED_AGAIN
        rules = [*_rules(request), *request.rules]
        async with _executor(request, clients, _paced(journal, listeners)) as executor:
            return await run(
                request.plan,
                executor,
                journal,
                rules,
                listeners,
                table=table,
                again=again,
                retry=request.retry,
                reuse=reuse,
            )
    finally:
        for client in clients.values():
            client.close()
        journal.close()


def make_clients(request: Launch, connections: int) -> dict[str, ModelClient]:
    """A client for every target, of so many connections each."""
    return {
        target.slot: make_client(target, request.keys.get(target.slot), request.settings, connections)
        for target in _all_targets(request.plan)
    }


def parts_of(request: Launch, concurrency: int) -> ShardParts:
    """What a worker process needs of a launch, for its share of the concurrency."""
    return ShardParts(request.plan.task, make_clients(request, concurrency), request.plan.limits)


@asynccontextmanager
async def _executor(
    request: Launch, clients: Mapping[str, ModelClient], paced: Paced
) -> AsyncIterator[Executor]:
    settings = request.settings
    if settings.concurrency == "auto":
        bound = min(settings.most_in_flight, _most_connections() // max(1, len(clients)))
        yield AdaptiveExecutor(clients, max(1, bound), paced, request.asking)
        return
    if settings.executor == "local" and settings.workers in (None, 1):
        yield LocalExecutor(clients, settings.concurrency)
        return
    assert request.recipe is not None
    if settings.executor == "ray":
        async with ray_shards(request.recipe, settings.workers, settings.ray_address) as shards:
            yield ShardedExecutor(shards, settings.concurrency)
    else:
        yield ShardedExecutor(ProcessShards(request.recipe, settings.workers or 1), settings.concurrency)


def _most_connections() -> int:
    """How many connections this process may have open, some descriptors left for files."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] - DESCRIPTORS_FOR_FILES


def _paced(journal: Journal, listeners: Sequence[Listener]) -> Paced:
    """What journals each level, and tells those who want to hear of it."""

    def paced(level: int, settled: bool) -> None:
        journal.write(RunEvent("concurrency", store.now_ns(), {"level": level, "settled": settled}))
        for listener in listeners:
            if isinstance(listener, HearsPace):
                listener.paced(level, settled)

    return paced


def _check_one_process(request: Launch) -> None:
    settings = request.settings
    several = settings.executor == "ray" or settings.workers not in (None, 1)
    if several and request.recipe is None:
        raise UserError(f"A {request.kind} runs in one process: remove --workers and --executor.")
    if settings.ray_address is not None and settings.executor != "ray":
        raise UserError("--ray-address requires --executor ray.")
    if several and settings.concurrency == "auto":
        raise UserError(
            "--concurrency auto works in one process only: give a number, or remove --workers and --executor."
        )


def _rules(request: Launch) -> list[StopRule]:
    settings = request.settings
    rules: list[StopRule] = [SystemicErrors(alike=min(10, request.plan.trial_count))]
    if settings.budget_tokens is not None:
        rules.append(TokenBudget(settings.budget_tokens))
    if settings.budget_seconds is not None:
        rules.append(TimeBudget(settings.budget_seconds))
    return rules


def _manifest(request: Launch, identity: str, digest: str, created_at: int) -> Manifest:
    plan = request.plan
    return Manifest(
        id=identity,
        kind=request.kind,
        name=request.name,
        fingerprint=digest,
        created_at=created_at,
        task=plan.task.spec,
        targets=list(plan.targets),
        helpers=list(plan.helpers),
        scorers=[ScorerInfo(scorer.name, scorer.fingerprint) for scorer in plan.task.scorers],
        repeats=plan.repeats,
        limits=plan.limits,
        concurrency=None if request.settings.concurrency == "auto" else request.settings.concurrency,
        stream=request.settings.stream,
        pass_threshold=request.pass_threshold,
        data=list(request.data),
        typed_models=dict(request.typed_models),
        settings=_plain_settings(request.settings),
        about=dict(request.about),
        versions=versions(),
        host=host_facts(),
        client=client_facts(stream=request.settings.stream),
    )


def _plain_settings(settings: Settings) -> dict[str, Any]:
    """The settings that were given, without secrets."""
    return settings.model_dump(
        mode="json", exclude={"api_key", "baseline_api_key", "run"}, exclude_defaults=True
    )


def _all_targets(plan: Plan) -> list[Target]:
    return [*plan.targets, *plan.helpers]
