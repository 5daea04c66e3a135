"""Metadata of tasks in Harbor's format: an `About` for each folder of tasks."""

from __future__ import annotations

import re

from benchwright.catalog.agent_options import NETWORK_OPTIONS, agent_options
from benchwright.catalog.benchmark import About
from benchwright.data.dataset_spec import Dataset, Folder, HarborDataset
from benchwright.errors import UserError
from benchwright.user_paths import expand_user_path

BENCHMARK_NAME = "harbor"

TASK_OPTIONS = {
    **NETWORK_OPTIONS,
    "timeout_multiplier": "Multiply the time limits of agents and tests by this (default: 1).",
}
"""The options of all benchmarks whose tasks are folders."""


_REGISTERED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)@(?P<version>[\w.-]+)")


def about_of(reference: str) -> About:
    """Return the metadata of `harbor:REFERENCE`: a folder of tasks, or a dataset in Harbor's registry.

    The reference of a dataset is NAME@VERSION. The variant is the folder's name, or the dataset's name with
    its version.

    Raises:
        UserError: If there is no such folder, and the reference is not the name of a dataset.
    """
    path = expand_user_path(reference)
    if reference and path.is_dir():
        name = path.resolve().name or "tasks"
        return _about(name, "**/task.toml", Folder(str(path)), "https://harborframework.com")
    found = _REGISTERED.fullmatch(reference)
    if found is None:
        raise UserError(
            f"There is no folder {reference!r} with tasks. Name a task's folder, or one of many: "
            f"{BENCHMARK_NAME}:PATH; or a "
            f"dataset of Harbor's registry: {BENCHMARK_NAME}:NAME@VERSION."
        )
    return _about(
        reference, "*/task.toml", HarborDataset(found["name"], found["version"]), "Harbor's registry"
    )


def _about(variant: str, files: str, origin: Folder | HarborDataset, source: str) -> About:
    return About(
        name=BENCHMARK_NAME,
        variant=variant,
        title=f"Tasks of {variant}",
        description="Tasks in Harbor's format, executed in Docker containers",
        tier=4,
        items=0,
        licence="",
        protocol="bash in the task's own container, at most 100 turns within the task's time; the rewards that the "
        "task's own tests write (Harbor's format)",
        source=source,
        dataset=Dataset(f"{BENCHMARK_NAME}:{variant}", {"test": (files,)}, origin),
        metric="reward",
        breakdowns=("difficulty", "category"),
        options={**agent_options("task", 100, 600), **TASK_OPTIONS},
        can_be_sealed=True,
        needs=("containers",),
    )
