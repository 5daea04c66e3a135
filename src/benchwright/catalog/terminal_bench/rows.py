"""Samples of Terminal-Bench 1."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.catalog.harbor.rows import check_file, task_sample
from benchwright.catalog.harbor.settings import settings_or_problem
from benchwright.catalog.harbor.task_folders import TaskFolders
from benchwright.catalog.terminal_bench import version_1
from benchwright.data.datasets import Source
from benchwright.records import Sample


def version_1_samples(source: Source, folders: TaskFolders) -> Iterator[Sample]:
    """Yield the tasks of Terminal-Bench 1.

    Raises:
        DatasetError: If a task is invalid. The message names the file.
    """
    for task, folder in folders.find_tasks(source):
        yaml = version_1.read_task(check_file(folder / version_1.TASK_FILE_NAME))
        settings = settings_or_problem(version_1.read_settings, yaml, folder)
        yield task_sample(task, folder, [yaml["instruction"]], settings, version_1.read_labels(yaml))
