"""A measurement under load: its levels one after the other, those of a sweep chosen as it goes."""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime

import msgspec

from benchwright.analysis.joint.concurrency import by_concurrency
from benchwright.analysis.joint.views import joint_view
from benchwright.analysis.load.cached_prompts import WARM_CACHE
from benchwright.analysis.load.reading import ReadLevel, read_level, sides_of
from benchwright.analysis.load.records import Level, LevelResult, LoadReport
from benchwright.app.benchmarks import LOCAL_SERVER
from benchwright.app.endpoints import make_client
from benchwright.app.launch import launch
from benchwright.app.load.level_task import LevelTask, Rounds
from benchwright.app.load.levels import allow_connections, due_times, level_seconds, slug
from benchwright.app.load.settings import LoadSettings, chosen_levels, cut_of, objectives
from benchwright.app.load.sweep import Sweep
from benchwright.app.load.synthetic import calibrate
from benchwright.app.load.workload import Workload, find_workload, synthetic_workload
from benchwright.app.models import find_models
from benchwright.app.prepared import LaunchedRun, PreparedRun, RunRequest
from benchwright.app.probe import probe_endpoints
from benchwright.app.prometheus import metrics_url
from benchwright.app.run_shelf import NewRunShelf
from benchwright.endpoint.watching import Watch
from benchwright.engine.run import Listener
from benchwright.runs.listing import tag_run
from benchwright.stats.prefixes import SeenPrefixes
from benchwright.stats.windows import Cut
from benchwright.text import Say

CACHED = 0.05
"""Share of prompt tokens from the server's cache from which on it is told."""

MISSED = 0.1
"""How far the length of answers may be from the one asked for before it is told."""


def load_tests(settings: LoadSettings, say: Say) -> list[LoadTest]:
    """A measurement for each model, to be made one after the other: under load at once they would slow each other down.

    They share a tag and, if the prompts are synthetic, the prompts. Without a seed these are new ones, as a server that
    has seen them would answer from its prefix cache.

    Raises:
        UserError: as `LoadTest` and `find_models`.
    """
    identity = f"load-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.urandom(2).hex()}"
    prompt_seed = settings.seed if settings.seed is not None else random.SystemRandom().getrandbits(31)
    find_models(settings, {}, lambda _: None, LOCAL_SERVER)
    alone = [
        settings.model_copy(update={"model": entry.model, "models": (entry,)}) for entry in settings.tried
    ]
    return [LoadTest(one, identity, prompt_seed, say) for one in alone or [settings]]


class LoadTest:
    """A measurement of one model that is ready to go: every check that needs no model has passed.

    `levels` are those that were measured so far, so that there is something to show at any time.

    Raises:
        UserError: an option is not as it should be, or as `find_workload`.
    """

    def __init__(self, settings: LoadSettings, identity: str, prompt_seed: int, say: Say) -> None:
        self.settings = settings
        self.identity = identity
        self.first_levels = chosen_levels(settings)
        self.objectives = objectives(settings)
        self.warmup = None if settings.warmup is None else cut_of(settings.warmup, "--warmup", Cut())
        self.cooldown = cut_of(settings.cooldown, "--cooldown", Cut())
        self.workload = find_workload(settings, prompt_seed, say)
        self.levels: list[ReadLevel] = []
        self.interrupted = False
        self._sweep: Sweep | None = None
        self._say = say
        self._metrics = settings.metrics
        self._sent = SeenPrefixes()

    @property
    def model(self) -> str:
        """What the model is called in results."""
        return self.workload.request.typed_models[self.workload.request.plan.targets[0].slot]

    async def probe(self) -> None:
        """Asks the endpoints for their models, unless the settings say not to.

        Raises:
            ProviderError: one does not answer, or does not have the model.
        """
        request = self.workload.request
        if self.settings.probe:
            await probe_endpoints([*request.plan.targets, *request.plan.helpers], request.keys, self._say)

    async def measure(self, listener_of: Callable[[Level], Sequence[Listener]]) -> AsyncIterator[LevelResult]:
        """Runs the levels, each with listeners of its own; yields the result of each.

        Raises:
            ProviderError: the endpoint does not answer the requests that calibrate.
            UserError, JournalError: see `launch.launch`.
        """
        if self.settings.synthetic_input is not None:
            self.workload = await self._calibrated(self.workload)
        if self.settings.sweep:
            self._sweep = Sweep(self.first_levels[0], self.settings, objectives=bool(self.objectives))
        number = 0
        while (level := self._level(number)) is not None:
            number += 1
            result = await self._measure(level, number, listener_of(level))
            if self._sweep is not None:
                self._sweep.add(result)
            yield result
            if self.interrupted or (result.state != "finished" and not result.answered):
                return

    def _level(self, place: int) -> Level | None:
        if self._sweep is not None:
            return self._sweep.next()
        return self.first_levels[place] if place < len(self.first_levels) else None

    async def _measure(self, level: Level, number: int, listeners: Sequence[Listener]) -> LevelResult:
        url = self.settings.metrics_url or metrics_url(self.workload.request.plan.targets[0].base_url)
        watch = Watch(url, self._say) if self._metrics else None
        prepared = self.prepare(level, number, watch)
        in_flight = prepared.request.settings.concurrency
        assert isinstance(in_flight, int)
        allow_connections(in_flight, self._say)
        launched = await launch(prepared, listeners, self._say)
        self._metrics = watch is not None and bool(watch.looks)
        self.interrupted = launched.result is not None and launched.result.interrupted
        read = prepared.report(launched)
        self.levels.append(read)
        return read.result

    def prepare(self, level: Level, number: int, watch: Watch | None = None) -> PreparedRun[ReadLevel]:
        """The run of a level, counted from 1; `watch` sees the server's metrics meanwhile.

        Raises:
            UserError: see `due_times`.
        """
        settings = self.settings

        def report(launched: LaunchedRun) -> ReadLevel:
            tag_run(str(launched.directory), [self.identity])
            read = read_level(
                launched.table,
                level,
                () if watch is None else watch.looks,
                launched.result.seconds if launched.result is not None else 0.0,
                self.objectives,
                self.warmup,
                self.cooldown,
                settings.max_in_flight,
                self._sent,
            )
            if read.result.warm_cache:
                tag_run(str(launched.directory), [WARM_CACHE])
            return read

        request = self._request(level, number)
        return PreparedRun(
            request,
            NewRunShelf(),
            report,
            facts={"level": level, "prompts": self.workload.about},
            during=lambda table: watch or nullcontext(),
        )

    def _request(self, level: Level, number: int) -> RunRequest:
        """The workload's run, with other trials and other limits on what is in flight."""
        settings, base, size = self.settings, self.workload.request, self.workload.size
        due = due_times(level, settings)
        requests = settings.requests if due is None else len(due)
        seconds = None if due is not None else level_seconds(settings)
        task = LevelTask(self.workload.task_of(number), size, requests, seconds)
        in_flight = settings.max_in_flight if level.concurrency is None else level.concurrency
        plan = msgspec.structs.replace(
            base.plan,
            task=task,
            samples=task.size(),
            repeats=1,
            arrange=Rounds(size, due),
            open_ended=seconds is not None,
        )
        detail = {
            "id": self.identity,
            "level": level,
            "number": number,
            "requests": requests,
            "seconds": seconds,
            "prompts": self.workload.about,
            "prompt_seed": self.workload.prompt_seed,
            "warmup": self.warmup,
            "cooldown": self.cooldown,
        }
        return msgspec.structs.replace(
            base,
            name=f"{base.name}-{slug(level)}",
            plan=plan,
            settings=base.settings.model_copy(update={"concurrency": in_flight, "retries": settings.retries}),
            about={**base.about, "load": detail},
            selection={**base.selection, "load": detail},
            recipe=None,
        )

    async def _calibrated(self, workload: Workload) -> Workload:
        target = workload.request.plan.targets[0]
        client = make_client(target, workload.request.keys.get(target.slot), self.settings, 1)
        try:
            found = await calibrate(client)
        finally:
            client.close()
        assert workload.prompt_seed is not None
        return synthetic_workload(self.settings, found, workload.prompt_seed, self._say)

    def report(self) -> LoadReport:
        """What was found so far."""
        results = [one.result for one in self.levels]
        target = self.workload.request.plan.targets[0]
        sides = sides_of(self.levels)
        return LoadReport(
            id=self.identity,
            task=self.workload.request.plan.task.spec.name,
            model=self.model,
            base_url=target.base_url,
            prompts=self.workload.about,
            prompt_seed=self.workload.prompt_seed,
            objectives=self.objectives,
            levels=sorted(results, key=lambda result: result.level.height),
            saturation=None if self._sweep is None else self._sweep.conclusion(self.interrupted),
            by_concurrency=by_concurrency(sides, [joint_view(side) for side in sides]),
            notes=list(notes(results, self.settings, self.workload.prompt_seed)),
            interrupted=self.interrupted,
        )


def notes(
    results: Sequence[LevelResult], settings: LoadSettings, prompt_seed: int | None = None
) -> list[str]:
    """What has to be known of the figures."""
    told = []
    cached = [one for one in results if one.cached is not None and one.cached > CACHED and not one.warm_cache]
    if cached:
        most = max(one.cached or 0.0 for one in cached)
        told.append(
            f"The server took up to {most * 100:.0f} % of the prompt tokens from its prefix cache (level "
            f"{', '.join(one.level.name for one in cached)}): prompts it has not seen take longer"
        )
    lengths = [(one.prompt_length, one.answer_length) for one in results]
    if settings.synthetic_input is not None and lengths and None not in lengths[0]:
        prompt, answer = lengths[0]
        told.append(f"Prompts had {prompt:,.0f} tokens and answers {answer:,.0f}, on average")
    if prompt_seed is not None and settings.seed is None:
        told.append(f"The prompts are new ones; --seed {prompt_seed} sends the same again")
    output = settings.synthetic_output
    short = [
        one
        for one in results
        if output is not None
        and one.answer_length is not None
        and abs(one.answer_length - output) > MISSED * output
    ]
    if short:
        length = min(one.answer_length or 0.0 for one in short)
        told.append(
            f"Answers had {length:,.0f} tokens instead of {output:,}: if the server supports it, "
            "--param ignore_eos=true makes them long enough"
        )
    burst = [one.level.name for one in results if one.answered and not one.steady]
    if burst:
        told.append(
            f"No steady state at level {', '.join(burst)}: the requests were issued in less time than half of them "
            "took, so that the rates are those of a burst; ask for more --requests or a longer --duration"
        )
    return told
