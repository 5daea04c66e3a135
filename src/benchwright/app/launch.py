"""Launch of a prepared run: the same steps for every kind of task."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import AsyncIterator, Callable, Container, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from benchwright import allocator
from benchwright.app.connections import raise_connection_limit, warn_of_too_few_connections
from benchwright.app.endpoints import make_client
from benchwright.app.manifests import manifest_of
from benchwright.app.prepared_run import LaunchedRun, PreparedRun, RunRequest
from benchwright.app.refusal_notes import RefusalNotes
from benchwright.app.run_probe import probe_run
from benchwright.app.telemetry import telemetry_listeners, telemetry_of
from benchwright.app.until.until_rule import UntilRule, make_until_rule
from benchwright.clock import wall_ns
from benchwright.config import ResumingSettings
from benchwright.data.errors import DatasetError
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.providers import ModelClient
from benchwright.engine.adaptive.executor import AdaptiveExecutor, OnLevelChange
from benchwright.engine.executor import Executor, LocalExecutor
from benchwright.engine.progress import ActivityListener, DecisionListener, LevelListener, PauseListener
from benchwright.engine.run import RunListener, RunResult, run
from benchwright.engine.shards import ProcessShards, ShardedExecutor, ShardParts, WorkerSpec, ray_shards
from benchwright.engine.stop_rules import StopRule, SystemicErrorRule, TimeBudget, TokenBudget
from benchwright.engine.trial_reuse import Reuse
from benchwright.errors import JournalError, UserError
from benchwright.records import FAILED_STATUSES, STATUSES_RETRIED_ON_RESUME, RunEvent, Status
from benchwright.reports.decision import decision_progress
from benchwright.runs import store
from benchwright.runs.journal import Journal
from benchwright.runs.manifest import read_manifest, write_manifest
from benchwright.runs.manifest_facts import title_of
from benchwright.runs.serial_server import SerialServing, serial_serving_text
from benchwright.runs.table import RunTable, read_table
from benchwright.text import Say, make_safe

RETRIED_STATUSES = FAILED_STATUSES | {Status.GRADER_ERROR}
"""Statuses that `--retry-failed` retries: trials without a result, and scores whose grader failed."""


async def launch_run(prepared: PreparedRun[Any], listeners: Sequence[RunListener], say: Say) -> LaunchedRun:
    """Start a new run, resume an unfinished one, or only load a finished one, and return it.

    The choice depends on the run that the lookup (`prepared_run.lookup`) finds or makes. A finished run is resumed only
    to retry trials. The run's journal is read once.

    Raises:
        RunLocked: If another process is working on the run, and does not end in time.
        UserError: If the dataset changed while it was read, or if `engine.run.run` raises it.
        JournalError: If `engine.run.run` raises it.
    """
    async with prepared.resources:
        return await _launch(prepared, listeners, say)


async def _launch(prepared: PreparedRun[Any], listeners: Sequence[RunListener], say: Say) -> LaunchedRun:
    allocator.lower_mmap_threshold()
    request = prepared.request
    _check_one_process(request)
    telemetry = telemetry_of(request)
    reuse = prepared.find_reuse(say)
    found = prepared.lookup.open_run(lambda: _make(request), say)
    async with found as directory, store.run_lock(directory, say):
        _say_if_named_otherwise(directory, request.settings.label.name, say)
        table = read_table(directory, effort=request.wants_usage)
        result = None
        try:
            until = make_until_rule(request, directory, statuses_to_retry(request.settings.resuming), say)
            async with prepared.run_context(table):
                if not is_complete(table, request) and not (until is not None and until.is_over):
                    if request.is_probed:
                        asked = [] if reuse.asks_no_model else request.plan.targets
                        await probe_run(request, directory, asked, say)
                    _tell_meanwhile(prepared, listeners)
                    async with telemetry_listeners(telemetry, directory, say) as sending:
                        heard = [*listeners, *sending, _refusal_notes(request, listeners)]
                        result = await _run(request, table, heard, reuse, until, say)
        except BaseException as error:
            with suppress(JournalError):  # the first error is the one to report
                _close(prepared, table)
            if isinstance(error, DatasetError) and (changed := prepared.find_change_reason()) is not None:
                raise UserError(changed) from None
            raise
        _close(prepared, table)
        return LaunchedRun(directory, result, table)


def _say_if_named_otherwise(directory: Path, name: str | None, say: Say) -> None:
    """Warn if the user typed another name than the one that an existing run has. The run keeps its name."""
    if name is not None and (kept := title_of(read_manifest(directory))) != name:
        say(
            f"This run is there already, and is called {make_safe(kept)}; --fresh makes a new one called {name}."
        )


def _close(prepared: PreparedRun[Any], table: RunTable) -> None:
    allocator.release_free_memory()  # memory that the trials used
    table.read_journal()
    table.release_keys()
    allocator.release_free_memory()
    prepared.on_session_end(table)


def statuses_to_retry(resuming: ResumingSettings) -> frozenset[Status]:
    """Return the statuses of earlier trials that this session runs again.

    With `--retry-failed`, these are `RETRIED_STATUSES`. Otherwise, they are `STATUSES_RETRIED_ON_RESUME`.
    """
    return RETRIED_STATUSES if resuming.retry_failed else STATUSES_RETRIED_ON_RESUME


def has_failures(table: RunTable) -> bool:
    """Return True if any trial's last attempt failed or was cut off."""
    return any(table.status_of(row) in RETRIED_STATUSES for row in range(len(table)))


def is_complete(table: RunTable, request: RunRequest) -> bool:
    """Return True if a run is finished, all its trials count, and the request wants none of them retried."""
    whole = table.counted_mask().all()
    return bool(whole) and table.sessions.state == "finished" and not has_trials_to_retry(table, request)


def has_trials_to_retry(table: RunTable, request: RunRequest) -> bool:
    """Return True if the request wants some trials of a finished run retried."""
    if request.retry_condition is None:
        return request.settings.resuming.retry_failed and has_failures(table)
    return any(request.retry_condition(trial.record) for trial in table.read_trials(range(len(table))))


def _make(request: RunRequest) -> Path:
    now = store.now_ns()
    digest = request.fingerprint
    directory = store.new_run_directory(request.name, digest, now)
    write_manifest(directory, manifest_of(request, directory.name, digest, now))
    return directory


async def _run(
    request: RunRequest,
    table: RunTable,
    listeners: Sequence[RunListener],
    reuse: Reuse,
    until: UntilRule | None,
    say: Say,
) -> RunResult:
    settings = request.settings
    wanted = math.ceil(
        settings.execution.max_trials_in_flight
        * request.plan.max_requests_per_trial
        / (settings.execution.workers or 1)
    )
    connections = _connections(request, wanted)
    if settings.execution.concurrency != "auto" and "load" not in request.manifest_facts:
        warn_of_too_few_connections(wanted, connections, say)
    clients = make_clients(request, connections)
    asking = [*clients.values(), *request.direct_clients]
    _tell_of_waits(asking, listeners)
    if until is not None:
        _tell_of_decision(until, listeners)
    journal = Journal(table.directory, fsync=settings.execution.fsync)
    try:
        rules = [*_rules(request), *request.stop_rules]
        async with _executor(request, clients, connections, _paced(journal, listeners)) as executor:
            return await run(
                request.plan if until is None else until.plan,
                executor,
                journal,
                rules,
                listeners,
                until=until,
                table=table,
                again=statuses_to_retry(settings.resuming),
                retry=request.retry_condition,
                reuse=reuse,
                clients=asking,
            )
    finally:
        for client in clients.values():
            client.close()
        journal.close()


def make_clients(request: RunRequest, connections: int) -> dict[str, ModelClient]:
    """Return a client for every target by slot, each with this many connections."""
    return {
        target.slot: make_client(target, request.access[target.slot], request.settings, connections)
        for target in [*request.plan.targets, *request.plan.helper_targets]
    }


def _connections(request: RunRequest, wanted: int) -> int:
    """Return how many connections each target of a run can have: at most `wanted`."""
    targets = len([*request.plan.targets, *request.plan.helper_targets])
    return max(1, raise_connection_limit(wanted * targets) // targets)


def shard_parts_of_request(request: RunRequest, concurrency: int) -> ShardParts:
    """Return the parts of a run (such as task and clients) for a worker process.

    `concurrency`: the worker's share of the concurrency.
    """
    plan = request.plan
    clients = make_clients(request, _connections(request, concurrency))
    return ShardParts(plan.task, clients, plan.limits, plan.keep_condition)


def make_worker_spec(
    make: Callable[..., ShardParts], *arguments: Any, keys: Container[str | None] = ()
) -> WorkerSpec:
    """Return the specification from which a worker process builds the parts of a run; see `engine.shards.messages`.

    `make`: function that the worker calls with the `arguments` to build the parts. `keys`: names of environment
    variables with API keys or headers that the worker needs, besides those that end in `_API_KEY`.
    """
    environment = {
        name: value for name, value in os.environ.items() if name.endswith("_API_KEY") or name in keys
    }
    return WorkerSpec(f"{make.__module__}:{make.__qualname__}", arguments, tuple(sys.path), environment)


def discard_message(text: str) -> None:
    """Discard a message in a worker process, because the parent process has reported the same message already."""


@asynccontextmanager
async def _executor(
    request: RunRequest, clients: Mapping[str, ModelClient], connections: int, paced: OnLevelChange
) -> AsyncIterator[Executor]:
    execution = request.settings.execution
    if execution.concurrency == "auto":
        bound = min(execution.max_trials_in_flight, connections)
        yield AdaptiveExecutor(clients, bound, paced, request.direct_clients)
        return
    if not execution.uses_several_processes:
        yield LocalExecutor(clients, execution.concurrency)
        return
    assert request.worker_spec is not None
    if execution.executor == "ray":
        async with ray_shards(request.worker_spec, execution.workers, execution.ray_address) as shards:
            yield ShardedExecutor(shards, execution.concurrency)
    else:
        yield ShardedExecutor(
            ProcessShards(request.worker_spec, execution.workers or 1), execution.concurrency
        )


def _paced(journal: Journal, listeners: Sequence[RunListener]) -> OnLevelChange:
    """Return a callback that writes each change of the concurrency to the journal.

    The callback also reports the change to each `LevelListener` among the listeners.
    """

    def paced(level: int, settled: bool, alone: SerialServing | None) -> None:
        detail = {"level": level, "settled": settled}
        journal.write_lines(
            RunEvent("concurrency", wall_ns(), detail if alone is None else {**detail, "alone": alone})
        )
        for listener in listeners:
            if alone is not None:
                listener.on_message(f"{serial_serving_text(alone)}.")
            if isinstance(listener, LevelListener):
                listener.on_level(level, settled)

    return paced


def _tell_of_waits(clients: Sequence[ModelClient], listeners: Sequence[RunListener]) -> None:
    """Make clients report to each `PauseListener` among the listeners that a server asks for a pause."""

    def waits(model: str, seconds: float) -> None:
        for listener in listeners:
            if isinstance(listener, PauseListener):
                listener.on_pause(model, seconds)

    for client in clients:
        if isinstance(client, EndpointClient):
            client.on_wait = waits


def _refusal_notes(request: RunRequest, listeners: Sequence[RunListener]) -> RefusalNotes:
    models = {target.slot: target.model for target in [*request.plan.targets, *request.plan.helper_targets]}
    return RefusalNotes(models, listeners)


def _tell_of_decision(until: UntilRule, listeners: Sequence[RunListener]) -> None:
    """Give each `DecisionListener` among the listeners a function that describes the state of the decision."""
    for listener in listeners:
        if isinstance(listener, DecisionListener):
            listener.set_decision_text(lambda: decision_progress(until.decision))


def _tell_meanwhile(prepared: PreparedRun[Any], listeners: Sequence[RunListener]) -> None:
    """Give each `ActivityListener` among the listeners a function that lists activities beside the trials."""
    for listener in listeners:
        if isinstance(listener, ActivityListener):
            listener.set_activities(prepared.describe_activities)


def _check_one_process(request: RunRequest) -> None:
    execution = request.settings.execution
    several = execution.uses_several_processes
    if several and request.worker_spec is None:
        raise UserError(f"A {request.kind} runs in one process: remove --workers and --executor.")
    if execution.ray_address is not None and execution.executor != "ray":
        raise UserError("--ray-address requires --executor ray.")
    if several and execution.concurrency == "auto":
        raise UserError(
            "--concurrency auto works in one process only: give a number, or remove --workers and --executor."
        )


def _rules(request: RunRequest) -> list[StopRule]:
    limits = request.settings.limits
    alike = min(10, request.plan.trial_count)
    rules: list[StopRule] = [SystemicErrorRule(alike, sheds="load" in request.manifest_facts)]
    if limits.budget_tokens is not None:
        rules.append(TokenBudget(limits.budget_tokens))
    if limits.budget_seconds is not None:
        rules.append(TimeBudget(limits.budget_seconds))
    return rules
