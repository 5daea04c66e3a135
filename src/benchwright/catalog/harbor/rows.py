"""Samples: one per task. What is large stays in the task's folder, and is read from there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchwright.catalog.harbor import task_file
from benchwright.catalog.harbor.folders import TaskFolders, digest, read_text
from benchwright.catalog.harbor.settings import Settings, settings_or_problem
from benchwright.data.datasets import Source
from benchwright.records import Sample

TARGET = "the task's own tests pass"


def harbor_samples(source: Source, folders: TaskFolders) -> Iterator[Sample]:
    """The tasks of a source in Harbor's layout.

    Raises:
        DatasetError: one is not as it should be; names the file.
    """
    for task, folder in folders.all(source):
        toml = task_file.read_toml(checked(folder / task_file.FILE))
        instruction = read_text(folder / "instruction.md")
        settings = settings_or_problem(task_file.settings, toml, folder)
        yield task_sample(task, folder, instruction, settings, task_file.labels(toml))


def settings_of(sample: Sample) -> Settings:
    """The settings of a sample's task."""
    return msgspec.convert(sample.content["settings"], Settings)


def checked(path: Path) -> Path:
    """A file of settings, seen to be a text that is not too long.

    Raises:
        DatasetError: it is not.
    """
    read_text(path)
    return path


def task_sample(
    task: str, folder: Path, instruction: str, settings: Settings, labels: dict[str, str]
) -> Sample:
    """The sample of a task, by its path from the root."""
    content = {
        "task": task,
        "files": digest(folder),
        "instruction": instruction,
        "settings": msgspec.to_builtins(settings),
    }
    return Sample(folder.resolve().name, content, labels=labels, input=instruction, target=TARGET)
