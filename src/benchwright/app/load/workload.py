"""The workload that all levels of a load measurement share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from benchwright.app.load.settings import LoadSettings
from benchwright.app.load.synthetic.calibration import Calibration
from benchwright.app.models import find_models, short_name_of_models
from benchwright.app.prepared_run import RunRequest
from benchwright.endpoint.default_server import default_server
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Task
from benchwright.records import TrialLimits
from benchwright.runs.manifest import DataFile
from benchwright.text import Say


class Workload(msgspec.Struct, frozen=True):
    """The prompts that a load measurement sends. `request`: a run request, from which each level derives its own.

    `task_of_level`: returns the task of a level, given its number. `prompt_count`: number of different
    prompts, None if endless. `description`: description of what is sent. `prompt_seed`: seed of the generated
    prompts, None if prompts are not generated. `calibration_steps`: how to calibrate the prompt lengths, None
    if that is not needed. `is_made_of_trace`: True if prompts were generated from a trace; journals do not
    keep such prompts.
    """

    request: RunRequest
    task_of_level: Callable[[int], Task]
    prompt_count: int | None
    description: str
    prompt_seed: int | None = None
    calibration_steps: CalibrationSteps | None = None
    is_made_of_trace: bool = False


class CalibrationSteps(NamedTuple):
    """How to calibrate the prompt lengths of a workload.

    `make_text`: returns a text, given the number of words and a seed. `recalibrate`: returns the workload for a
    calibration.
    """

    make_text: Callable[[int, str], str]
    recalibrate: Callable[[Calibration], Workload]


def unscored_request(
    settings: LoadSettings,
    task: Task,
    samples: int,
    name: str,
    kind: str,
    say: Say,
    data: Sequence[DataFile] = (),
    *,
    parallel: int = 1,
    aborts: bool = False,
) -> RunRequest:
    """Return a run request that sends the prompts of a task without scoring the answers.

    `parallel` and `aborts`: values that are passed on to the request's `Plan`.
    """
    sampling = settings.sampling
    body = {
        "temperature": sampling.temperature,
        "max_tokens": sampling.max_tokens,
        "seed": sampling.seed,
        **sampling.param,
    }
    models = find_models(settings.endpoint, sampling, settings.thinking, body, say, default_server())
    limits = TrialLimits(tokens=settings.limits.trial_tokens, seconds=settings.limits.trial_seconds)
    return RunRequest(
        kind=kind,
        name=f"{name}-{short_name_of_models(list(models.display_names.values()))}",
        plan=Plan(
            task=task,
            sample_count=samples,
            targets=models.targets,
            limits=limits,
            max_requests_per_trial=parallel,
            is_cancellable=aborts,
        ),
        settings=settings,
        data_files=data,
        access=models.access,
        typed_models=models.display_names,
        manifest_facts=models.manifest_facts,
    )
