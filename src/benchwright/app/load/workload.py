"""What is asked under load: the samples of a benchmark, the rows of a dataset, or synthetic prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from benchwright.app.benchmarks import LOCAL_SERVER
from benchwright.app.load.settings import LoadSettings
from benchwright.app.load.synthetic import Calibration, SyntheticTask
from benchwright.app.models import find_models, short_name
from benchwright.app.prepared import RunRequest
from benchwright.config import Settings
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Task
from benchwright.errors import UserError
from benchwright.formats import counted
from benchwright.records import TrialLimits
from benchwright.runs.manifest import DataFile
from benchwright.text import Say


class Workload(msgspec.Struct, frozen=True):
    """What every level runs: `request` is that of an ordinary run, of which a level makes its own.

    `task_of` gives the task of a level by its number. `size` is how many different prompts there are, None for no end.
    `about` says in words what is asked; `prompt_seed` which synthetic prompts, None for other ones.
    """

    request: RunRequest
    task_of: Callable[[int], Task]
    size: int | None
    about: str
    prompt_seed: int | None = None


def find_workload(settings: LoadSettings, prompt_seed: int, say: Say) -> Workload:
    """Checks everything that can be checked without asking the model, of which there is one.

    Synthetic prompts, which `prompt_seed` chooses, are calibrated later, see `synthetic_workload`.

    Raises:
        UserError: there is nothing to ask, or more than one thing; or as `prepare_benchmark` and `prepare_eval`.
    """
    asked = [settings.benchmark, settings.dataset, settings.synthetic_input]
    if sum(one is not None for one in asked) != 1:
        raise UserError(
            "Choose what to send: a benchmark (`benchwright load mmlu`), --dataset FILE or --synthetic-input TOKENS."
        )
    if not settings.model:
        raise UserError("Missing option '--model': give the name of the model as the server lists it.")
    if settings.benchmark is not None:
        return _benchmark(settings.benchmark, settings, say)
    if settings.dataset is not None:
        return _dataset(settings, say)
    return synthetic_workload(settings, Calibration(), prompt_seed, say)


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
        option=options,
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
    from benchwright.data.manifest import file_fingerprint

    assert settings.dataset is not None
    rows: dict[str, Any] = {"limit": settings.limit, "system": settings.system, "template": settings.template}
    if settings.scorer:
        own = EvalSettings(
            **_shared(settings),
            **rows,
            dataset=settings.dataset,
            column=settings.column,
            scorer=settings.scorer,
            scorer_option=settings.scorer_option,
            judge_model=settings.judge_model,
            judge_base_url=settings.judge_base_url,
            judge_api_key_env=settings.judge_api_key_env,
        )
        request = prepare_eval(own, say).request
    else:
        task = PromptTask(settings.dataset, [], columns=settings.column, needs_target=False, **rows)
        digest, samples = file_fingerprint(settings.dataset), task.size()
        data = DataFile(str(settings.dataset), digest, samples, columns=settings.column)
        request = _plain_request(settings, task, samples, settings.dataset.stem, "eval", say, (data,))
    plan = request.plan
    about = f"{counted(plan.samples, 'prompt')} of {settings.dataset.name}"
    return Workload(request, lambda _: plan.task, plan.samples, about)


def synthetic_workload(
    settings: LoadSettings, calibration: Calibration, prompt_seed: int, say: Say
) -> Workload:
    """Prompts of so many tokens, as far as the calibration can tell; other ones at each level."""
    tokens, output = settings.synthetic_input, settings.synthetic_output
    assert tokens is not None
    words = calibration.words_for(tokens)

    def task_of(level: int) -> SyntheticTask:
        return SyntheticTask(words, f"{prompt_seed}:{level}")

    more = {} if output is None else {"max_tokens": output}
    limited = settings.model_copy(update=more)
    request = _plain_request(limited, task_of(0), 1, f"synthetic-{tokens}", "load", say)
    wanted = "" if output is None else f" and answers of at most {output:,}"
    about = f"synthetic prompts of {calibration.told(tokens)}{wanted}"
    return Workload(request, task_of, None, about, prompt_seed)


def _plain_request(
    settings: LoadSettings,
    task: Task,
    samples: int,
    name: str,
    kind: str,
    say: Say,
    data: Sequence[DataFile] = (),
) -> RunRequest:
    """A run of prompts that nobody scores."""
    body = {
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "seed": settings.seed,
        **settings.param,
    }
    models = find_models(settings, body, say, LOCAL_SERVER)
    limits = TrialLimits(tokens=settings.trial_tokens, seconds=settings.trial_seconds)
    return RunRequest(
        kind=kind,
        name=f"{name}-{short_name(list(models.names.values()))}",
        plan=Plan(task=task, samples=samples, targets=models.targets, limits=limits),
        settings=settings,
        data=data,
        keys=models.keys,
        typed_models=models.names,
    )


def _shared(settings: LoadSettings, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The settings that every kind of run has."""
    names = Settings.model_fields.keys() - {*without, "concurrency", "workers", "executor", "ray_address"}
    shared = {name: getattr(settings, name) for name in names}
    return {**shared, "base_url": settings.base_url or LOCAL_SERVER}
