"""The workload of a load measurement: benchmark samples, dataset rows, synthetic prompts, or a trace."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.app.launch import discard_message, shard_parts_of_request
from benchwright.app.load.levels import level_duration_seconds
from benchwright.app.load.replay.workload import find_trace, replay_workload
from benchwright.app.load.settings import LoadSettings
from benchwright.app.load.synthetic.calibration import Calibration
from benchwright.app.load.synthetic.workload import check_synthetic_options, synthetic_workload
from benchwright.app.load.workload import Workload, unscored_request
from benchwright.app.models import says_no_address
from benchwright.data.manifest import file_fingerprint
from benchwright.data.traces.records import Trace
from benchwright.endpoint.default_server import default_server
from benchwright.engine.shards import ShardParts
from benchwright.errors import UserError
from benchwright.formats import count_with_noun
from benchwright.runs.manifest import DataFile
from benchwright.text import Say

PER_LEVEL_SETTINGS = {"concurrency", "workers", "executor", "ray_address"}
"""Names of settings that every kind of run has, and for which each load level has its own values."""


def find_workload(settings: LoadSettings, prompt_seed: int, say: Say, trace: Trace | None = None) -> Workload:
    """Check everything that can be checked without a request, and return the workload for one model.

    `prompt_seed`: determines synthetic prompts, whose lengths are calibrated later.

    Raises:
        UserError: If the user names no source of prompts or more than one, or if `prepare_benchmark` or
            `prepare_eval` raises it.
    """
    check_synthetic_options(settings.synthetic)
    asked = [settings.catalog.benchmark, settings.rows.dataset, settings.synthetic.synthetic_input]
    replayed = trace if settings.replays_requests and trace is not None and trace.has_prompts else None
    if sum(one is not None for one in [*asked, replayed]) != 1:
        only_times = f" {settings.replay.trace} has only times." if settings.replays_requests else ""
        raise UserError(
            "Choose what to send: a benchmark (`benchwright load mmlu`), --dataset FILE, --synthetic-input TOKENS or "
            f"a --trace with prompts.{only_times}"
        )
    if not settings.endpoint.model:
        raise UserError("Missing option '--model': give the name of the model as the server lists it.")
    if settings.synthetic.model_mix is not None and (
        settings.catalog.benchmark is not None or settings.rows.dataset is not None
    ):
        raise UserError("--model-mix needs --synthetic-input or a --trace with prompts.")
    if settings.catalog.benchmark is None and (
        settings.selection.where or settings.selection.ids is not None
    ):
        raise UserError(
            "--where and --ids choose samples of a benchmark: name one (`benchwright load mmlu`)."
        )
    if settings.catalog.benchmark is not None:
        return _benchmark(settings.catalog.benchmark, settings, say)
    if settings.rows.dataset is not None:
        return _dataset(settings, say)
    if replayed is not None:
        return replay_workload(settings, replayed, prompt_seed, say)
    return synthetic_workload(settings, prompt_seed, say)


def load_shard_parts(
    concurrency: int, settings: LoadSettings, prompt_seed: int, level: int, calibration: Calibration | None
) -> ShardParts:
    """Find the workload again in a worker process. Return the parts that the worker needs for the level number `level`.

    These are its task, clients and limits.
    """
    workload = find_workload(settings, prompt_seed, discard_message, find_trace(settings))
    if workload.calibration_steps is not None and calibration is not None:
        workload = workload.calibration_steps.recalibrate(calibration)
    parallel = workload.request.plan.max_requests_per_trial
    return msgspec.structs.replace(
        shard_parts_of_request(workload.request, concurrency * parallel),
        task=workload.task_of_level(level),
        max_seconds=level_duration_seconds(settings.load, replays=settings.replays_requests),
    )


def _benchmark(name: str, settings: LoadSettings, say: Say) -> Workload:
    from benchwright.app.benchmarks import prepare_benchmark
    from benchwright.config import BenchmarkSettings

    options = dict(settings.catalog.option)
    if settings.catalog.source is not None:
        options["path"] = str(settings.catalog.source)
    more: dict[str, Any] = {} if settings.sampling.seed is None else {"seed": settings.sampling.seed}
    own = BenchmarkSettings(
        **_shared(settings, without=("seed",)),
        **more,
        max_samples=settings.selection.limit,
        shuffle=settings.selection.shuffle,
        where=settings.selection.where,
        ids=settings.selection.ids,
        option=options,
        **dict(settings.judge),
        plugin=settings.catalog.plugin,
        data_dir=settings.catalog.data_dir,
    )
    request = prepare_benchmark(name, own, say).request
    plan = request.plan
    return Workload(
        request,
        lambda _: plan.task,
        plan.sample_count,
        f"{count_with_noun(plan.sample_count, 'prompt')} of {name}",
    )


def _dataset(settings: LoadSettings, say: Say) -> Workload:
    from benchwright.agents.prompt_task import PromptTask
    from benchwright.app.evaluate import prepare_eval
    from benchwright.config import EvalSettings

    rows = settings.rows
    assert rows.dataset is not None
    if settings.scoring.scorer:
        server = default_server()
        if says_no_address(settings.endpoint):
            say(server.line)
        own = EvalSettings(
            **{**_shared(settings), "base_url": settings.endpoint.base_url or server.base_url},
            **dict(settings.rows),
            **dict(settings.scoring),
            **dict(settings.judge),
            limit=settings.selection.limit,
        )
        request = prepare_eval(own, say).request
    else:
        task = PromptTask(
            rows.dataset,
            [],
            columns=rows.column,
            needs_target=False,
            limit=settings.selection.limit,
            system=rows.system,
            template=rows.template,
        )
        if rows.skip_bad_rows:
            task.skip_bad_rows()
        digest, samples = file_fingerprint(rows.dataset), task.size()
        data = DataFile(str(rows.dataset), digest, samples, columns=rows.column)
        request = unscored_request(settings, task, samples, rows.dataset.stem, "eval", say, (data,))
    plan = request.plan
    about = f"{count_with_noun(plan.sample_count, 'prompt')} of {rows.dataset.name}"
    return Workload(request, lambda _: plan.task, plan.sample_count, about)


def _shared(settings: LoadSettings, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the values of the settings that every kind of run has, except those named in `without`."""
    sections = (
        *(settings.label, settings.endpoint, settings.sampling, settings.limits),
        *(settings.execution, settings.resuming),
    )
    shared = {
        name: value for section in sections for name, value in section if name not in PER_LEVEL_SETTINGS
    }
    return {name: value for name, value in shared.items() if name not in without}
