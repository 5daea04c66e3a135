"""Tasks in Harbor's format in plain data: the metadata of a folder of them."""

from __future__ import annotations

from benchwright.catalog.agent_options import agent_options
from benchwright.catalog.benchmark import About
from benchwright.data.declared import Dataset, Folder
from benchwright.errors import UserError
from benchwright.typed_paths import typed_path

NAME = "harbor"

TASK_OPTIONS = {
    "network": "The network as each task says (task, the default), or none.",
    "timeout_multiplier": "Multiply the time limits of agents and tests by this (default: 1).",
}
"""The options of all benchmarks whose tasks are folders."""


def about_of(reference: str) -> About:
    """The metadata of `harbor:REFERENCE`: of the tasks in a folder, or of one task's folder.

    Its variant is the folder's name.

    Raises:
        UserError: there is no such folder.
    """
    path = typed_path(reference)
    if not reference or not path.is_dir():
        raise UserError(
            f"There is no folder {reference!r} with tasks. Name a task's folder, or one of many: {NAME}:PATH."
        )
    name = path.resolve().name or "tasks"
    return About(
        name=NAME,
        variant=name,
        title=f"Tasks of {name}",
        description="Tasks in Harbor's format, executed in Docker containers",
        tier=4,
        items=0,
        licence="",
        protocol="bash in the task's own container, at most 100 turns within the task's time; the rewards that the "
        "task's own tests write (Harbor's format)",
        source="https://harborframework.com",
        dataset=Dataset(f"{NAME}:{name}", {"test": ("**/task.toml",)}, Folder(str(path))),
        metric="reward",
        breakdowns=("difficulty", "category"),
        options={**agent_options("task", 100, 600), **TASK_OPTIONS},
        needs=("containers",),
    )
