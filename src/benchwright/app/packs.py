"""`pack run`: a bench pack against models, from its manifest to its own score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec

from benchwright.analysis.pack_summary import summary_document, write_summary
from benchwright.analysis.summary import summarise
from benchwright.app.endpoints import make_client
from benchwright.app.launch import Ended, Launch, launch
from benchwright.app.pack_setup import ReadyPack, ready_pack
from benchwright.app.pack_watch import PackWatch
from benchwright.app.run_shelf import RunShelf
from benchwright.config import PackSettings
from benchwright.endpoint.client import EndpointClient
from benchwright.engine.ledger import Retry
from benchwright.engine.plan import Plan
from benchwright.engine.run import Listener
from benchwright.errors import ExecutionError, UserError
from benchwright.packs.modes import arranged, find_mode
from benchwright.packs.results import PackResults, PackScore, score_results
from benchwright.packs.task import PackRunSetup, PackTask
from benchwright.packs.types import PASSED
from benchwright.records import ASKED_AGAIN, FAILED, Record, Status, TrialLimits, TrialRecord
from benchwright.runs import store
from benchwright.runs.manifest import DataFile, read_manifest
from benchwright.runs.table import RunTable
from benchwright.text import Say


class PackReport(Record, frozen=True):
    """A pack's run in full: what it was, every attempt, and the pack's own scores by slot."""

    directory: Path
    setup: PackRunSetup
    results: PackResults
    scores: Mapping[str, PackScore]
    ended: Ended
    document: dict[str, Any]


async def run_pack(
    reference: str, settings: PackSettings, listeners: Sequence[Listener], watch: PackWatch, say: Say
) -> PackReport:
    """Runs a pack: goes on with an unfinished run of the same kind, or begins a new one.

    Raises:
        UserError: pack, models or settings are not as they should be; says what to do.
        ExecutionError: the pack does not load, or cannot be prepared.
    """
    ready = await ready_pack(reference, settings, say)
    async with AsyncExitStack() as stack:
        clients = {}
        for target in ready.targets:
            client = make_client(target, ready.keys.get(target.slot), settings, settings.most_in_flight)
            assert isinstance(client, EndpointClient), "packs are given addresses"
            stack.callback(client.close)
            clients[target.slot] = client
        task = PackTask(ready.setup, clients, watch.verifiers(ready.setup, settings), watch)
        request = msgspec.structs.replace(_request(task, ready, settings), asking=tuple(clients.values()))
        try:
            ended = await _launch(request, settings, [watch, *listeners], watch, task, say)
        except (UserError, ExecutionError) as error:
            if watch.table is not None:
                watch.table.advance()
                ended = Ended(watch.table.directory, None, watch.table)
                _write(task, ended, watch, watch.results(), {}, str(error))
            raise
        return await _report(task, ended, watch)


async def describe_pack(reference: str, settings: PackSettings, say: Say) -> dict[str, Any]:
    """What a run would be, for `--dry-run`; asks no model.

    Raises:
        UserError, ExecutionError: see `run_pack`.
    """
    ready = await ready_pack(reference, settings, say)
    setup = ready.setup
    return {
        "pack": setup.manifest.id,
        "version": setup.manifest.version,
        "directory": str(setup.directory),
        "mode": find_mode(settings.mode).name,
        "scenarios": [scenario.id for scenario in setup.scenarios],
        "models": [
            {"id": model.id, "model": target.model, "base_url": target.base_url}
            for model, target in zip(setup.models.values(), ready.targets, strict=True)
        ],
        "attempts": settings.n,
        "cells": len(setup.scenarios) * len(setup.models) * settings.n,
        "generation": setup.cells.generation,
    }


def _request(task: PackTask, ready: ReadyPack, settings: PackSettings) -> Launch:
    setup, targets = ready.setup, ready.targets
    mode = find_mode(settings.mode)
    manifest = setup.manifest
    plan = Plan(
        task=task,
        samples=task.size(),
        targets=targets,
        repeats=settings.n,
        limits=TrialLimits(tokens=settings.trial_tokens, seconds=settings.trial_seconds),
        arrange=arranged(mode, [target.slot for target in targets]),
    )
    concurrency = 1 if mode.serial else settings.concurrency
    return Launch(
        kind="pack",
        name=f"{manifest.id}-{targets[0].model.rpartition('/')[2]}",
        plan=plan,
        settings=settings.model_copy(update={"concurrency": concurrency}),
        data=(DataFile(path=str(setup.directory), xxh3=setup.digest, samples=task.size()),),
        keys=ready.keys,
        typed_models={slot: model.id for slot, model in setup.models.items()},
        selection={"mode": mode.name, "scenarios": [scenario.id for scenario in setup.scenarios]},
        about={
            "pack": manifest.id,
            "name": manifest.name,
            "version": manifest.version,
            "generation": setup.cells.generation,
            "mode": mode.name,
            "metered": not setup.direct,
            "models": setup.models,
            "scenarios": {scenario.id: scenario.title for scenario in setup.scenarios},
            "categories": {
                scenario.id: scenario.category for scenario in setup.scenarios if scenario.category
            },
            "cards": {
                scenario.id: scenario.detail_cards for scenario in setup.scenarios if scenario.detail_cards
            },
        },
        retry=_retry(settings),
    )


def _retry(settings: PackSettings) -> Retry | None:
    """Which cells of an earlier run are to be made again, besides those that never had an answer."""
    if settings.retry_scenario:
        return lambda trial: trial.sample in settings.retry_scenario
    if settings.provider_errors:
        return lambda trial: trial.status is Status.PROVIDER_ERROR
    if settings.retry_failed:
        return lambda trial: trial.scores.get(PASSED, 0.0) < 1.0
    return None


def _made_again(settings: PackSettings) -> Callable[[TrialRecord], bool]:
    """All cells of an earlier session that this one makes again; see `launch`."""
    again = FAILED if settings.retry_failed else ASKED_AGAIN
    retry = _retry(settings)
    return lambda trial: trial.status in again or (retry is not None and retry(trial))


async def _launch(
    request: Launch,
    settings: PackSettings,
    listeners: Sequence[Listener],
    watch: PackWatch,
    task: PackTask,
    say: Say,
) -> Ended:
    finished = bool(settings.retry_failed or settings.provider_errors or settings.retry_scenario)
    shelf = RunShelf(request.fingerprint, fresh=settings.fresh, finished=finished, run=settings.run)

    def during(table: RunTable) -> AbstractContextManager[None]:
        repeats, mode = request.plan.repeats, request.about["mode"]
        return watch.during(table, task, repeats, mode, _made_again(settings))

    return await launch(request, listeners, say, shelf, during=during)


async def _report(task: PackTask, ended: Ended, watch: PackWatch) -> PackReport:
    """Has the pack score what was done, and writes summary.json."""
    results = watch.results()
    async with task.process() as process:
        scores = await score_results(process, results)
    result = ended.result
    if result is not None:
        watch.conclude(ended.directory, scores, result.stop_reason)
    error = None if result is None or result.interrupted else result.stop_reason
    document = _write(task, ended, watch, results, scores, error)
    return PackReport(ended.directory, task.setup, results, scores, ended, document)


def _write(
    task: PackTask,
    ended: Ended,
    watch: PackWatch,
    results: PackResults,
    scores: Mapping[str, PackScore],
    error: str | None,
) -> dict[str, Any]:
    directory, result = ended.directory, ended.result
    worked = result is not None or error is not None
    manifest = read_manifest(directory)
    document = summary_document(
        manifest,
        directory,
        task.setup,
        summarise(manifest, ended.table),
        results,
        scores,
        completed_at=store.now_ns() if worked else ended.table.sessions.ended_at,
        cancelled=result is not None and result.interrupted,
        error=error,
        uncelled=watch.uncelled,
    )
    write_summary(directory, document)
    return document
