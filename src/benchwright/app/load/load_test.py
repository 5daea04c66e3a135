"""A load measurement: runs its levels one after another.

In a sweep, each level is chosen from the results of earlier levels.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec

from benchwright.analysis.load.cached_prompts import WARM_CACHE_TAG
from benchwright.analysis.load.level_results import LevelData, read_level
from benchwright.analysis.load.load_measurement import build_load_report
from benchwright.analysis.load.records import LevelPlan, LevelResult, LoadLevel, LoadReport, SelfTest
from benchwright.analysis.load.replay_fidelity import write_replay_result
from benchwright.analysis.load.server_metrics_file import write_power, write_server_metrics
from benchwright.analysis.load.sweep import LoadSweep
from benchwright.app.connections import open_file_limit, raise_connection_limit
from benchwright.app.endpoints import make_client
from benchwright.app.launch import launch_run, make_worker_spec
from benchwright.app.load.body_selection import BodySelector
from benchwright.app.load.level_task import LevelTask, TrialScheduler
from benchwright.app.load.levels import due_times, level_duration_seconds, level_slug, max_requests
from benchwright.app.load.replay.workload import find_trace
from benchwright.app.load.settings import (
    LoadSettings,
    chosen_levels,
    make_sweep_plan,
    parse_objectives,
    parse_window_trim,
    price_of,
    window_bounds,
)
from benchwright.app.load.synthetic.calibration import Calibration, calibrate
from benchwright.app.load.workload import CalibrationSteps, Workload
from benchwright.app.load.workload_lookup import find_workload, load_shard_parts
from benchwright.app.models import find_models, key_variable_names
from benchwright.app.prepared_run import LaunchedRun, PreparedRun, RunRequest
from benchwright.app.probe import probe_endpoints
from benchwright.app.prometheus import metrics_url
from benchwright.app.run_lookup import NewRunLookup
from benchwright.endpoint.default_server import default_server
from benchwright.endpoint.metrics_poller import MetricsPoller, ServerMetrics, read_load_metrics
from benchwright.endpoint.power import PowerReading, read_power
from benchwright.engine.run import RunListener
from benchwright.errors import UserError
from benchwright.runs.tags_and_notes import tag_run
from benchwright.stats.seen_prefixes import SeenPrefixes
from benchwright.stats.windows import WindowTrim
from benchwright.text import Say, say_once


def prepare_load_tests(settings: LoadSettings, say: Say) -> list[LoadTest]:
    """Return one load measurement for each model. They are run one after another, so as not to slow each other down.

    All measurements have the same tag, and send the same synthetic prompts if there are any. Without a seed the
    synthetic prompts are new each time, because a server that has seen them before would answer from its prefix
    cache.

    Raises:
        UserError: If `LoadTest` or `find_models` raises it.
    """
    identity = f"load-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.urandom(2).hex()}"
    seed = settings.sampling.seed
    prompt_seed = seed if seed is not None else random.SystemRandom().getrandbits(31)
    find_models(settings.endpoint, settings.sampling, settings.thinking, {}, lambda _: None, default_server())
    alone = [
        settings.model_copy(update={"model": entry.model, "models": (entry,)})
        for entry in settings.endpoint.models_under_test
    ]
    told = say_once(say)
    return [LoadTest(one, identity, prompt_seed, told) for one in alone or [settings]]


class LoadTest:
    """A measurement of one model that is ready to run: every check that needs no model has passed.

    `levels`: the results of the levels measured so far. Each result is complete, so that an interrupted measurement
    can be shown.

    Raises:
        UserError: If an option is invalid, or if `find_workload` raises it.
    """

    def __init__(self, settings: LoadSettings, identity: str, prompt_seed: int, say: Say) -> None:
        self.settings = settings
        self.identity = identity
        self.trace = find_trace(settings)
        self.first_levels = chosen_levels(settings, timed=self.trace is None or self.trace.has_start_times)
        self.objectives = parse_objectives(settings.report.slo, stream=settings.execution.stream)
        self.warmup = (
            None
            if settings.load.warmup is None
            else parse_window_trim(settings.load.warmup, "--warmup", WindowTrim())
        )
        self.cooldown = parse_window_trim(settings.load.cooldown, "--cooldown", WindowTrim())
        self.workload = find_workload(settings, prompt_seed, say, self.trace)
        self._prompt_seed = prompt_seed
        self._calibration: Calibration | None = None
        self.window = window_bounds(settings.load)
        self.price = price_of(settings.report.price, self.model)
        self.levels: list[LevelData] = []
        self.self_test: SelfTest | None = None
        self.interrupted = False
        self._sweep: LoadSweep | None = None
        self._say = say
        self._metrics = settings.monitoring.metrics
        self._max_in_flight = settings.load.max_in_flight
        self._sent = SeenPrefixes()

    @property
    def model(self) -> str:
        """Name of the model in results."""
        return self.workload.request.typed_models[self.workload.request.plan.targets[0].slot]

    async def probe_endpoints(self) -> None:
        """Ask each endpoint for its models, and warn if it does not list the wanted one. Do nothing if probing is off.

        Raises:
            UserError: If an endpoint cannot be reached.
        """
        request = self.workload.request
        if self.settings.execution.probe:
            await probe_endpoints(
                [*request.plan.targets, *request.plan.helper_targets], request.access, self._say
            )

    async def measure_levels(
        self, listener_of: Callable[[LoadLevel], Sequence[RunListener]], repeat: int = 1
    ) -> AsyncIterator[LevelResult]:
        """Run the levels one after another, and yield the result of each.

        `listener_of`: returns the listeners for a level. `repeat`: number of this pass over the levels, from 1. An
        even pass runs the levels in reverse order, so that changes over time affect all levels alike.

        Raises:
            ProviderError: If the endpoint does not respond to the calibration requests.
            UserError, JournalError: If `launch.launch` raises it.
        """
        if self.workload.calibration_steps is not None:
            self.workload = await self._calibrated(self.workload, self.workload.calibration_steps)
        if self.settings.search.sweep:
            self._sweep = LoadSweep(
                self.first_levels[0], make_sweep_plan(self.settings.search), objectives=bool(self.objectives)
            )
        waiting = iter(self.first_levels if repeat % 2 else reversed(self.first_levels))
        while (
            level := self._sweep.next_level() if self._sweep is not None else next(waiting, None)
        ) is not None:
            result = await self._measure(level, repeat, listener_of(level))
            if self._sweep is not None:
                self._sweep.add_result(result)
            yield result
            if self.interrupted or (result.state != "finished" and not result.answered_requests):
                return

    async def _measure(self, level: LoadLevel, repeat: int, listeners: Sequence[RunListener]) -> LevelResult:
        target = self.workload.request.plan.targets[0]
        url = self.settings.monitoring.metrics_url or metrics_url(target.base_url)
        access = self.workload.request.access[target.slot].for_url(url, target.base_url)
        watch = MetricsPoller(url, self._say, read_load_metrics, access=access) if self._metrics else None
        self._allow_connections(level)
        prepared = self.prepare_level(level, len(self.levels) + 1, watch, self._power_watch(), repeat)
        launched = await launch_run(prepared, listeners, self._say)
        self._metrics = watch is not None and bool(watch.looks)
        self.interrupted = launched.session_result is not None and launched.session_result.is_interrupted
        read = prepared.write_report(launched)
        self.levels.append(read)
        return read.result

    def _allow_connections(self, level: LoadLevel) -> None:
        """Let this process, or each of its workers, open the connections that a level needs.

        In an open loop, the maximum number of requests in flight is lowered if fewer connections are possible. The
        level's result then says whether that maximum was reached.

        Raises:
            UserError: If a closed loop needs more connections than are possible. Requests without a connection
                would wait in this process.
        """
        parallel, workers = (
            self.workload.request.plan.max_requests_per_trial,
            self.settings.execution.workers or 1,
        )
        wanted = level.concurrency or self.settings.load.max_in_flight
        possible = raise_connection_limit(math.ceil(wanted * parallel / workers)) * workers // parallel
        if level.is_open_loop:
            self._max_in_flight = max(1, min(wanted, possible))
        elif possible < wanted:
            raise UserError(
                f"{wanted:,} requests cannot be in flight at once: this process may have {open_file_limit():,} files "
                f"open (ulimit -n), enough for {possible:,}. Raise that limit, or measure lower levels."
            )

    def _power_watch(self) -> MetricsPoller[PowerReading] | None:
        url = self.settings.monitoring.energy_url
        return None if url is None else MetricsPoller(url, self._say, read_power, "Figures of energy are")

    def prepare_level(
        self,
        level: LoadLevel,
        number: int,
        watch: MetricsPoller[ServerMetrics] | None = None,
        power: MetricsPoller[PowerReading] | None = None,
        repeat: int = 1,
    ) -> PreparedRun[LevelData]:
        """Return the prepared run of a level. `number` counts the levels from 1.

        During the run, `watch` reads the server's metrics, and `power` reads the power that the server's devices
        draw.

        Raises:
            UserError: If `due_times` raises it.
        """
        plan = self._plan(level, number, repeat)

        def report(launched: LaunchedRun) -> LevelData:
            tag_run(str(launched.directory), [self.identity])
            write_server_metrics(launched.directory, () if watch is None else watch.looks)
            write_power(launched.directory, () if power is None else power.looks)
            if self.trace is not None and self.settings.replays_requests:
                write_replay_result(launched.table, self.trace, self.settings.sampling.max_tokens)
            read = read_level(launched.table, plan, self._sent)
            if read.result.warm_cache:
                tag_run(str(launched.directory), [WARM_CACHE_TAG])
            return read

        request = self._request(plan)
        return PreparedRun(
            request,
            NewRunLookup(),
            report,
            description_facts={"level": level, "prompts": self.workload.description},
            run_context=lambda table: _all_of(watch, power),
        )

    def _plan(self, level: LoadLevel, number: int, repeat: int) -> LevelPlan:
        """Return the description of a level (`LevelPlan`) that is stored with its run."""
        settings = self.settings
        due = due_times(level, settings, self.trace)
        output = settings.synthetic.synthetic_output or ""
        return LevelPlan(
            id=self.identity,
            level=level,
            number=number,
            repeat=repeat,
            requests=max_requests(settings.load, self.trace, replays=settings.replays_requests)
            if due is None
            else len(due),
            seconds=None
            if due is not None
            else level_duration_seconds(settings.load, replays=settings.replays_requests),
            prompts=self.workload.description,
            prompt_seed=self.workload.prompt_seed,
            seeded=settings.sampling.seed is not None,
            synthetic=settings.synthetic.synthetic_input is not None,
            answer_tokens=int(output) if output.isdigit() else None,
            made_of_trace=self.workload.is_made_of_trace,
            speed=settings.replay.speed or 1.0,
            warmup=self.warmup,
            cooldown=self.cooldown,
            window=self.window,
            max_in_flight=self._max_in_flight,
            objectives=self.objectives,
            self_test=self.self_test,
            price=self.price,
            sweep=make_sweep_plan(settings.search) if settings.search.sweep else None,
        )

    def _request(self, level: LevelPlan) -> RunRequest:
        """Return the run request for a level.

        It is the workload's request, with the level's trials and maximum in flight.
        """
        settings, base, size = self.settings, self.workload.request, self.workload.prompt_count
        task = LevelTask(self.workload.task_of_level(level.number), size, level.requests)
        concurrency = level.level.concurrency
        in_flight = self._max_in_flight if concurrency is None else concurrency
        plan = msgspec.structs.replace(
            base.plan,
            task=task,
            sample_count=task.size(),
            repeats=1,
            reorder_trials=TrialScheduler(size, due_times(level.level, settings, self.trace)),
            open_ended=level.seconds is not None,
            shares_clock=True,
            max_seconds=level_duration_seconds(settings.load, replays=settings.replays_requests),
            keep_condition=BodySelector(settings.report.keep_bodies),
        )
        detail = msgspec.to_builtins(level)
        return msgspec.structs.replace(
            base,
            name=f"{base.name}-{level_slug(level.level)}",
            plan=plan,
            settings=base.settings.model_copy(
                update={
                    "concurrency": in_flight,
                    "retries": settings.limits.retries,
                    "workers": settings.execution.workers,
                }
            ),
            manifest_facts={**base.manifest_facts, "load": detail},
            sample_selection={**base.sample_selection, "load": detail},
            worker_spec=make_worker_spec(
                load_shard_parts,
                *(settings, self._prompt_seed, level.number, self._calibration),
                keys=(
                    settings.judge.judge_api_key_env,
                    *key_variable_names(settings.endpoint, settings.judge.judge_headers_env),
                ),
            ),
        )

    async def _calibrated(self, workload: Workload, calibrating: CalibrationSteps) -> Workload:
        target = workload.request.plan.targets[0]
        client = make_client(target, workload.request.access[target.slot], self.settings, 1)
        try:
            self._calibration = await calibrate(client, calibrating.make_text)
        finally:
            client.close()
        return calibrating.recalibrate(self._calibration)

    def make_report(self) -> LoadReport:
        """Return the report of the levels measured so far."""
        return build_load_report(self.levels, interrupted=self.interrupted)


@asynccontextmanager
async def _all_of(*watches: MetricsPoller[Any] | None) -> AsyncIterator[None]:
    async with AsyncExitStack() as open_ones:
        for watch in watches:
            if watch is not None:
                await open_ones.enter_async_context(watch)
        yield
