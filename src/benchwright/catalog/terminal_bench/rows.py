"""Samples: one per task. What is large stays in the task's folder, and is read from there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchwright.catalog.terminal_bench import harbor, version_1
from benchwright.catalog.terminal_bench.folders import TaskFolders, digest, read_text
from benchwright.catalog.terminal_bench.settings import Settings, settings_or_problem
from benchwright.data.datasets import Source
from benchwright.records import Sample

TARGET = "the task's own tests pass"


def harbor_samples(source: Source, folders: TaskFolders) -> Iterator[Sample]:
    """The tasks of Terminal-Bench 2.

    Raises:
        DatasetError: one is not as it should be; names the file.
    """
    for task, folder in folders.all(source):
        toml = harbor.read_toml(_checked(folder / harbor.FILE))
        instruction = read_text(folder / "instruction.md")
        settings = settings_or_problem(harbor.settings, toml, folder)
        yield _sample(task, folder, instruction, settings, harbor.labels(toml))


def first_samples(source: Source, folders: TaskFolders) -> Iterator[Sample]:
    """The tasks of Terminal-Bench 1.

    Raises:
        DatasetError: one is not as it should be; names the file.
    """
    for task, folder in folders.all(source):
        yaml = version_1.read_task(_checked(folder / version_1.FILE))
        settings = settings_or_problem(version_1.settings, yaml, folder)
        yield _sample(task, folder, yaml["instruction"], settings, version_1.labels(yaml))


def settings_of(sample: Sample) -> Settings:
    """The settings of a sample's task."""
    return msgspec.convert(sample.content["settings"], Settings)


def _checked(path: Path) -> Path:
    read_text(path)
    return path


def _sample(task: str, folder: Path, instruction: str, settings: Settings, labels: dict[str, str]) -> Sample:
    content = {
        "task": task,
        "files": digest(folder),
        "instruction": instruction,
        "settings": msgspec.to_builtins(settings),
    }
    return Sample(folder.resolve().name, content, labels=labels, input=instruction, target=TARGET)
