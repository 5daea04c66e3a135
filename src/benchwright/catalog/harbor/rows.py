"""Builds one sample per task. Large files stay in the task's folder, and are read from there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.harbor import settings_reader, task_file
from benchwright.catalog.harbor.settings import TaskSettings, settings_or_problem
from benchwright.catalog.harbor.task_folders import TaskFolders, read_text, task_digest
from benchwright.data.datasets import Source
from benchwright.records import Sample

TARGET_TEXT = "the task's own tests pass"

_CANARY = re.compile(r"\s*(<!--.*canary.*-->|#.*canary.*)\s*", re.IGNORECASE)


def harbor_samples(source: Source, folders: TaskFolders) -> Iterator[Sample]:
    """Yield one sample for each task in Harbor's format.

    The id is the folder's name. Tasks whose folders have the same name get their path as id.

    Raises:
        DatasetError: If a task is invalid. The message names the file.
    """
    found = list(folders.find_tasks(source))
    names = Counter(folder.resolve().name for _, folder in found)
    for task, folder in found:
        toml = task_file.read_toml(check_file(folder / task_file.TASK_FILE_NAME))
        settings = settings_or_problem(settings_reader.read_settings, toml, folder)
        steps = [step.name for step in settings.steps if step.name]
        files = [folder / "steps" / step / "instruction.md" for step in steps] or [folder / "instruction.md"]
        instructions = [without_canary(read_text(file)) for file in files]
        name = folder.resolve().name
        sample = task_sample(task, folder, instructions, settings, task_file.read_labels(toml))
        yield sample if names[name] == 1 else msgspec.structs.replace(sample, id=task)


def settings_of(sample: Sample) -> TaskSettings:
    """Return the settings of a sample's task."""
    return msgspec.convert(sample.content["settings"], TaskSettings)


def instructions_of(sample: Sample) -> Sequence[str]:
    """Return the instructions, one per step."""
    content: Mapping[str, Any] = sample.content
    several: Sequence[str] | None = content.get("instructions")
    return several or [str(content["instruction"])]


def without_canary(text: str) -> str:
    """Return an instruction without canary lines at its start, by which leaked copies are identified.

    The rule is that of harbor 0.25.0.
    """
    lines = text.split("\n")
    while lines and _CANARY.fullmatch(lines[0]):
        lines = lines[1:]
    while lines and not lines[0].strip():
        lines = lines[1:]
    return "\n".join(lines)


def check_file(path: Path) -> Path:
    """Check that a settings file is text and not too long. Return its path unchanged.

    Raises:
        DatasetError: If the file is too long or not text.
    """
    read_text(path)
    return path


def task_sample(
    task: str, folder: Path, instructions: Sequence[str], settings: TaskSettings, labels: dict[str, str]
) -> Sample:
    """Build the sample of a task. `task`: the path of its folder, relative to the root."""
    asked = {"instruction": instructions[0]} if len(instructions) == 1 else {"instructions": instructions}
    content = {"task": task, "files": task_digest(folder), **asked, "settings": msgspec.to_builtins(settings)}
    question = "\n\n".join(instructions)
    return Sample(folder.resolve().name, content, labels=labels, input=question, target=TARGET_TEXT)
