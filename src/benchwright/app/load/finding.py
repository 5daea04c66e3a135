"""The workload of a load measurement: benchmark samples, dataset rows, synthetic prompts, or a trace."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.app.launch import parts_of, said_by_the_parent
from benchwright.app.load.levels import level_seconds
from benchwright.app.load.replay.workload import find_trace, replay_workload
from benchwright.app.load.settings import LoadSettings
from benchwright.app.load.synthetic.calibration import Calibration
from benchwright.app.load.synthetic.workload import check_shape, synthetic_workload
from benchwright.app.load.workload import Workload, plain_request
from benchwright.config import Settings
from benchwright.data.manifest import file_fingerprint
from benchwright.data.traces.records import Trace
from benchwright.endpoint.default_server import LOCAL_SERVER
from benchwright.engine.shards import ShardParts
from benchwright.errors import UserError
from benchwright.formats import counted
from benchwright.runs.manifest import DataFile
from benchwright.text import Say


def find_workload(settings: LoadSettings, prompt_seed: int, say: Say, trace: Trace | None = None) -> Workload:
    """Check everything that can be checked without a request, and return the workload. There is one model.

    `prompt_seed` determines synthetic prompts, which are calibrated later.

    Raises:
        UserError: If there is nothing or more than one thing to send, or if `prepare_benchmark` or
            `prepare_eval` raises it.
    """
    check_shape(settings)
    asked = [settings.benchmark, settings.dataset, settings.synthetic_input]
    replayed = trace if settings.replays and trace is not None and trace.has_prompts else None
    if sum(one is not None for one in [*asked, replayed]) != 1:
        only_times = f" {settings.trace} has only times." if settings.replays else ""
        raise UserError(
            "Choose what to send: a benchmark (`benchwright load mmlu`), --dataset FILE, --synthetic-input TOKENS or "
            f"a --trace with prompts.{only_times}"
        )
    if not settings.model:
        raise UserError("Missing option '--model': give the name of the model as the server lists it.")
    if settings.model_mix is not None and (settings.benchmark is not None or settings.dataset is not None):
        raise UserError("--model-mix needs --synthetic-input or a --trace with prompts.")
    if settings.benchmark is None and (settings.where or settings.ids is not None):
        raise UserError(
            "--where and --ids choose samples of a benchmark: name one (`benchwright load mmlu`)."
        )
    if settings.benchmark is not None:
        return _benchmark(settings.benchmark, settings, say)
    if settings.dataset is not None:
        return _dataset(settings, say)
    if replayed is not None:
        return replay_workload(settings, replayed, prompt_seed, say)
    return synthetic_workload(settings, prompt_seed, say)


def load_parts(
    concurrency: int, settings: LoadSettings, prompt_seed: int, level: int, calibration: Calibration | None
) -> ShardParts:
    """Find the workload again in a worker process, and return the parts for a level, given its number."""
    workload = find_workload(settings, prompt_seed, said_by_the_parent, find_trace(settings))
    if workload.calibrating is not None and calibration is not None:
        workload = workload.calibrating.calibrated(calibration)
    parallel = workload.request.plan.parallel
    return msgspec.structs.replace(
        parts_of(workload.request, concurrency * parallel),
        task=workload.task_of(level),
        seconds=level_seconds(settings),
    )


def _benchmark(name: str, settings: LoadSettings, say: Say) -> Workload:
    from benchwright.app.benchmarks import prepare_benchmark
    from benchwright.config import BenchmarkSettings

    options = dict(settings.option)
    if settings.source is not None:
        options["path"] = str(settings.source)
    more: dict[str, Any] = {} if settings.seed is None else {"seed": settings.seed}
    own = BenchmarkSettings(
        **_shared(settings, without=("seed",)),
        **more,
        max_samples=settings.limit,
        shuffle=settings.shuffle,
        where=settings.where,
        ids=settings.ids,
        option=options,
        judge_model=settings.judge_model,
        judge_base_url=settings.judge_base_url,
        judge_api_key_env=settings.judge_api_key_env,
        judge_headers=settings.judge_headers,
        judge_headers_env=settings.judge_headers_env,
        plugin=settings.plugin,
        data_dir=settings.data_dir,
    )
    request = prepare_benchmark(name, own, say).request
    plan = request.plan
    return Workload(
        request, lambda _: plan.task, plan.samples, f"{counted(plan.samples, 'prompt')} of {name}"
    )


def _dataset(settings: LoadSettings, say: Say) -> Workload:
    from benchwright.agents.prompt_task import PromptTask
    from benchwright.app.evaluate import prepare_eval
    from benchwright.config import EvalSettings

    assert settings.dataset is not None
    rows: dict[str, Any] = {"limit": settings.limit, "system": settings.system, "template": settings.template}
    if settings.scorer:
        own = EvalSettings(
            **_shared(settings),
            **rows,
            dataset=settings.dataset,
            column=settings.column,
            skip_bad_rows=settings.skip_bad_rows,
            scorer=settings.scorer,
            scorer_option=settings.scorer_option,
            judge_model=settings.judge_model,
            judge_base_url=settings.judge_base_url,
            judge_api_key_env=settings.judge_api_key_env,
            judge_headers=settings.judge_headers,
            judge_headers_env=settings.judge_headers_env,
        )
        request = prepare_eval(own, say).request
    else:
        task = PromptTask(settings.dataset, [], columns=settings.column, needs_target=False, **rows)
        if settings.skip_bad_rows:
            task.skip_bad_rows()
        digest, samples = file_fingerprint(settings.dataset), task.size()
        data = DataFile(str(settings.dataset), digest, samples, columns=settings.column)
        request = plain_request(settings, task, samples, settings.dataset.stem, "eval", say, (data,))
    plan = request.plan
    about = f"{counted(plan.samples, 'prompt')} of {settings.dataset.name}"
    return Workload(request, lambda _: plan.task, plan.samples, about)


def _shared(settings: LoadSettings, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the settings that every kind of run has."""
    names = Settings.model_fields.keys() - {*without, "concurrency", "workers", "executor", "ray_address"}
    shared = {name: getattr(settings, name) for name in names}
    return {**shared, "base_url": settings.base_url or LOCAL_SERVER}
