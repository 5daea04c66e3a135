"""What every level of a measurement runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from benchwright.app.benchmarks import LOCAL_SERVER
from benchwright.app.load.settings import LoadSettings
from benchwright.app.load.synthetic.calibration import Calibration
from benchwright.app.models import find_models, short_name
from benchwright.app.prepared import RunRequest
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Task
from benchwright.records import TrialLimits
from benchwright.runs.manifest import DataFile
from benchwright.text import Say


class Workload(msgspec.Struct, frozen=True):
    """What every level runs: `request` is that of an ordinary run, of which a level makes its own.

    `task_of` gives the task of a level by its number. `size` is how many different prompts there are, None for no end.
    `about` says in words what is asked; `prompt_seed` which prompts were made, None for other ones. `calibrating` is
    there where their lengths are still to be calibrated; `made_of_trace` tells prompts that journals do not keep.
    """

    request: RunRequest
    task_of: Callable[[int], Task]
    size: int | None
    about: str
    prompt_seed: int | None = None
    calibrating: Calibrating | None = None
    made_of_trace: bool = False


class Calibrating(NamedTuple):
    """How a workload is calibrated: `text` makes so many words from a seed, `calibrated` the workload itself."""

    text: Callable[[int, str], str]
    calibrated: Callable[[Calibration], Workload]


def plain_request(
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
    """A run of prompts that nobody scores; `parallel` and `aborts` are those of its plan."""
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
        plan=Plan(
            task=task,
            samples=samples,
            targets=models.targets,
            limits=limits,
            parallel=parallel,
            aborts=aborts,
        ),
        settings=settings,
        data=data,
        access=models.access,
        typed_models=models.names,
        about=models.about,
    )
