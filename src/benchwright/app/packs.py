"""`pack run`: prepares the run of a bench pack against models, and reports the pack's own score."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec

from benchwright.analysis.pack_runs import summary_document, with_cell_counts, write_summary
from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import RunSummary
from benchwright.app.endpoints import make_client
from benchwright.app.models import short_name_of_models
from benchwright.app.pack_observer import PackObserver
from benchwright.app.pack_setup import LoadedPack, set_up_pack
from benchwright.app.prepared_run import LaunchedRun, PreparedRun, RunRequest, describe_run
from benchwright.app.run_lookup.unfinished_runs import UnfinishedRunLookup, is_reported, mark_reported
from benchwright.app.until.question import check_until_options
from benchwright.config import PackResuming, PackSettings
from benchwright.endpoint.access import Access
from benchwright.endpoint.client import EndpointClient
from benchwright.engine.ledger import RetryCondition
from benchwright.engine.plan import Plan
from benchwright.errors import ExecutionError, UserError
from benchwright.packs.execution_modes import choose_mode, trial_arranger
from benchwright.packs.pack_interfaces import NoVerifiers, RunningVerifiers
from benchwright.packs.results import PackResults, PackScore, score_results
from benchwright.packs.task import PackRunSetup, PackTask
from benchwright.packs.types import PASSED, RegisteredModel
from benchwright.records import (
    FAILED_STATUSES,
    STATUSES_RETRIED_ON_RESUME,
    Record,
    Status,
    Target,
    TrialLimits,
    TrialRecord,
)
from benchwright.runs import store
from benchwright.runs.manifest import DataFile, read_manifest
from benchwright.runs.table import RunTable
from benchwright.text import Say


class PackReport(Record, frozen=True):
    """Complete result of a pack's run.

    It holds the run's setup, every attempt, and the pack's own scores by slot. `document`: the content of
    summary.json.
    """

    setup: PackRunSetup
    summary: RunSummary
    results: PackResults
    scores: Mapping[str, PackScore]
    document: dict[str, Any]


async def prepare_pack(
    reference: str, settings: PackSettings, watch: PackObserver, say: Say
) -> PreparedRun[PackReport]:
    """Find a pack and its models, list its scenarios, and return the prepared run. `watch` observes the run.

    The pack's process is one of the `resources` of the prepared run, because the same process lists the scenarios,
    runs them and scores the results.

    Raises:
        UserError: If the pack, models or settings are invalid. The message says what to do.
        ExecutionError: If the pack does not load.
    """
    check_until_options(settings.deciding, len(settings.endpoint.models_under_test))
    async with AsyncExitStack() as stack:
        ready = await set_up_pack(reference, settings, watch.log, say, stack)
        prepared = _composed(ready, settings, watch)
        return msgspec.structs.replace(prepared, resources=stack.pop_all())


async def describe_pack_run(reference: str, settings: PackSettings, say: Say) -> dict[str, Any]:
    """Return the description of a pack's run for `--dry-run`. It raises the errors of `prepare_pack`."""
    prepared = await prepare_pack(reference, settings, PackObserver(), say)
    async with prepared.resources:
        return describe_run(prepared)


def _composed(ready: LoadedPack, settings: PackSettings, watch: PackObserver) -> PreparedRun[PackReport]:
    setup, pack, targets, access = ready
    clients = {}
    for target in targets:
        client = make_client(target, access[target.slot], settings, settings.execution.max_trials_in_flight)
        assert isinstance(client, EndpointClient), "packs are given addresses"
        clients[target.slot] = client
    task = PackTask(
        setup, pack, clients, _verifiers(setup, watch, keep=settings.process.keep_verifiers), watch
    )
    request = _request(task, targets, access, settings, tuple(clients.values()))
    resuming = settings.resuming
    lookup = UnfinishedRunLookup(
        request.fingerprint,
        fresh=resuming.fresh,
        finished=resuming.retries_cells,
        run=resuming.run,
        suite=settings.label.suite,
    )

    scores: dict[str, PackScore] = {}

    @asynccontextmanager
    async def during(table: RunTable) -> AsyncIterator[None]:
        repeats, mode = request.plan.repeats, request.manifest_facts["mode"]
        try:
            with watch.write_files(table, task, repeats, mode, _made_again(settings.resuming)):
                yield
                scores.update(await score_results(pack, watch.current_results()))
        except (UserError, ExecutionError) as error:
            table.read_journal()
            _report(LaunchedRun(table.directory, None, table), task.setup, watch, {}, str(error))
            raise
        finally:
            for client in clients.values():
                client.close()

    def report(launched: LaunchedRun) -> PackReport:
        result = launched.session_result
        if result is not None or not is_reported(launched.directory):
            watch.write_last_event(launched.directory, scores, launched.stop_reason)
        if launched.is_finished:
            mark_reported(launched.directory)
        error = None if result is None or result.is_interrupted else launched.stop_reason
        return _report(launched, task.setup, watch, scores, error)

    return PreparedRun(request, lookup, report, description_facts=_facts(request, setup), run_context=during)


def _verifiers(
    setup: PackRunSetup, watch: PackObserver, *, keep: bool
) -> AbstractAsyncContextManager[RunningVerifiers]:
    """Return a context that starts the pack's verifiers when the run begins. `keep`: leave their containers running."""
    if not setup.manifest.verifiers:
        return NoVerifiers()
    from benchwright.app.pack_verifiers import open_verifiers

    return open_verifiers(setup, watch, keep=keep)


def _facts(request: RunRequest, setup: PackRunSetup) -> dict[str, Any]:
    """Return the facts about a run that its plan does not contain."""
    return {
        "pack": setup.manifest.id,
        "version": setup.manifest.version,
        "directory": str(setup.directory),
        "mode": request.manifest_facts["mode"],
        "scenarios": [scenario.id for scenario in setup.scenarios],
        "listed": setup.listed_scenario_count,
        "models": [
            {"id": model.id, "model": target.model, "base_url": target.base_url}
            for model, target in zip(setup.models.values(), request.plan.targets, strict=True)
        ],
        "attempts": request.plan.repeats,
        "cells": request.plan.trial_count,
        "generation": setup.cells.generation,
    }


def _request(
    task: PackTask,
    targets: Sequence[Target],
    access: Mapping[str, Access],
    settings: PackSettings,
    asking: Sequence[EndpointClient],
) -> RunRequest:
    setup = task.setup
    mode = choose_mode(settings.scenarios.mode, len(setup.models))
    manifest = setup.manifest
    plan = Plan(
        task=task,
        sample_count=task.size(),
        targets=targets,
        repeats=settings.scenarios.n,
        limits=TrialLimits(tokens=settings.limits.trial_tokens, seconds=settings.limits.trial_seconds),
        reorder_trials=trial_arranger(mode, [target.slot for target in targets]),
        is_cancellable=True,
    )
    concurrency = 1 if mode.is_serial else settings.execution.concurrency
    return RunRequest(
        kind="pack",
        name=f"{manifest.id}-{short_name_of_models([model.label for model in setup.models.values()])}",
        plan=plan,
        settings=settings.model_copy(update={"concurrency": concurrency}),
        data_files=(DataFile(path=str(setup.directory), xxh3=setup.digest, samples=task.size()),),
        access=access,
        typed_models=_names(setup.models),
        sample_selection={"mode": mode.name, "scenarios": [scenario.id for scenario in setup.scenarios]},
        manifest_facts={
            "pack": manifest.id,
            "name": manifest.name,
            "version": manifest.version,
            "generation": setup.cells.generation,
            "mode": mode.name,
            "metered": not setup.bypasses_relay,
            "models": setup.models,
            "scenarios": {scenario.id: scenario.title for scenario in setup.scenarios},
            "listed": setup.listed_scenario_count,
            "categories": {
                scenario.id: scenario.category for scenario in setup.scenarios if scenario.category
            },
            "cards": {
                scenario.id: scenario.detail_cards for scenario in setup.scenarios if scenario.detail_cards
            },
        },
        retry_condition=_retry(settings.resuming),
        direct_clients=asking,
    )


def _names(models: Mapping[str, RegisteredModel]) -> dict[str, str]:
    """Return the models' display names by slot.

    The name is the model's label, or its id if several models have the same label.
    """
    labels = Counter(model.label for model in models.values())
    return {slot: model.label if labels[model.label] == 1 else model.id for slot, model in models.items()}


def _retry(resuming: PackResuming) -> RetryCondition | None:
    """Return a test of an earlier trial of the pack. It is True if the user wants that trial's cell to be retried.

    A cell is one scenario with one model in one repeat. Return None if the user wants no cell retried. Cells that never
    had an answer are retried in any case.
    """
    if resuming.retry_scenario:
        return lambda trial: trial.sample in resuming.retry_scenario
    if resuming.errors:
        return lambda trial: trial.status in FAILED_STATUSES
    if resuming.provider_errors:
        return lambda trial: trial.status is Status.PROVIDER_ERROR
    if resuming.retry_failed:
        return lambda trial: trial.scores.get(PASSED, 0.0) < 1.0
    return None


def _made_again(resuming: PackResuming) -> Callable[[TrialRecord], bool]:
    """Return a test that is True for attempts of earlier sessions that this session retries; see `launch`."""
    again = FAILED_STATUSES if resuming.retry_failed else STATUSES_RETRIED_ON_RESUME
    retry = _retry(resuming)
    return lambda trial: trial.status in again or (retry is not None and retry(trial))


def _report(
    launched: LaunchedRun,
    setup: PackRunSetup,
    watch: PackObserver,
    scores: Mapping[str, PackScore],
    error: str | None,
) -> PackReport:
    """Write summary.json. Return the report of a run."""
    directory, result, table = launched.directory, launched.session_result, launched.table
    worked = result is not None or error is not None
    manifest, results = read_manifest(directory), watch.current_results()
    summary, scores = summarise(manifest, table), with_cell_counts(scores, manifest, table)
    document = summary_document(
        manifest,
        directory,
        setup,
        summary,
        results,
        scores,
        completed_at=store.now_ns() if worked else table.sessions.ended_at,
        cancelled=result is not None and result.is_interrupted,
        error=error,
        uncelled=watch.uncelled,
    )
    write_summary(directory, document)
    return PackReport(setup, summary, results, scores, document)
