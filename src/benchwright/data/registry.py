"""Datasets of Harbor's registry: a JSON file that names the repository, commit and path of each task.

The file is a list of `{"name", "version", "tasks": [{"name", "git_url", "git_commit_id", "path"}]}` (harbor
0.25.0, harbor/models/registry.py). Benchwright reads the public registry by default. If
`BENCHWRIGHT_HARBOR_REGISTRY` is set, it reads the registry at that path or address instead.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

import msgspec

from benchwright.data.dataset_spec import GitRepository, HarborDataset
from benchwright.data.errors import DatasetError
from benchwright.data.pip_and_git import check_out
from benchwright.records import DECODE_ERRORS
from benchwright.suggestions import did_you_mean
from benchwright.user_paths import expand_user_path

REGISTRY_VARIABLE = "BENCHWRIGHT_HARBOR_REGISTRY"
PUBLIC_REGISTRY_URL = "https://raw.githubusercontent.com/laude-institute/harbor/main/registry.json"
TIMEOUT_SECONDS = 60.0
MAX_REGISTRY_BYTES = 64 * 2**20
_COMMIT = re.compile(r"[0-9a-f]{40}")


class TaskEntry(msgspec.Struct, frozen=True):
    """The location of one task. Other fields of the task's entry in the registry are ignored."""

    name: str
    path: str
    git_url: str | None = None
    git_commit_id: str | None = None


class DatasetEntry(msgspec.Struct, frozen=True):
    """One version of a dataset, with the locations of its tasks."""

    name: str
    version: str
    tasks: list[TaskEntry]


def fetch_harbor_dataset(dataset: HarborDataset, target: Path) -> tuple[str, str]:
    """Fetch a dataset. Each task goes into a subfolder of `target` with the task's name.

    Return (registry, revision). The revision is the commit of all tasks. If the tasks come from several
    repositories, it is their sorted commits, separated by `+`.

    Raises:
        DatasetError: If the registry cannot be read or lacks the dataset, a task is missing or not pinned to a
            commit, or git fails.
    """
    place = os.environ.get(REGISTRY_VARIABLE) or PUBLIC_REGISTRY_URL
    entry = _entry(place, dataset)
    by_repository: dict[GitRepository, list[TaskEntry]] = {}
    for task in entry.tasks:
        by_repository.setdefault(_repository(task), []).append(task)
    for repository, tasks in by_repository.items():
        with TemporaryDirectory(dir=target.parent) as checkout:
            check_out(repository, Path(checkout))
            for task in tasks:
                _take(task, Path(checkout), target)
    return place, "+".join(sorted({one.commit for one in by_repository}))


def _entry(place: str, dataset: HarborDataset) -> DatasetEntry:
    try:
        entries = msgspec.json.decode(_read(place), type=list[DatasetEntry])
    except DECODE_ERRORS as error:
        raise DatasetError(f"The registry {place} is not one of Harbor's: {error}") from error
    versions = {one.version: one for one in entries if one.name == dataset.name}
    if dataset.version in versions:
        return versions[dataset.version]
    if versions:
        raise DatasetError(f"{dataset.name} has the versions {', '.join(versions)}, and no {dataset.version}")
    hint = did_you_mean(dataset.name, {one.name for one in entries})
    raise DatasetError(f"The registry {place} has no dataset {dataset.name!r}.{hint}")


def _read(place: str) -> bytes:
    try:
        if place.startswith(("https://", "http://")):
            with urlopen(place, timeout=TIMEOUT_SECONDS) as response:
                content: bytes = response.read(MAX_REGISTRY_BYTES)
                return content
        return expand_user_path(place).read_bytes()
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise DatasetError(
            f"The registry {place} cannot be read: {reason}. Name another one in {REGISTRY_VARIABLE}, or the "
            "tasks' folder."
        ) from error


def _repository(task: TaskEntry) -> GitRepository:
    if task.git_url is None or not _COMMIT.fullmatch(task.git_commit_id or ""):
        raise DatasetError(f"The registry does not pin {task.name} at a commit of a repository")
    assert task.git_commit_id is not None
    return GitRepository(task.git_url, task.git_commit_id)


def _take(task: TaskEntry, checkout: Path, target: Path) -> None:
    parts = PurePosixPath(task.path).parts
    source, name = checkout.joinpath(*parts), PurePosixPath(task.name).name
    if (
        PurePosixPath(task.path).is_absolute()
        or ".." in parts
        or not name
        or not (source / "task.toml").is_file()
    ):
        raise DatasetError(f"{task.git_url} has no task {task.path} at {task.git_commit_id}")
    shutil.copytree(source, target / name, symlinks=True)
