"""Task folders: finds them in a data source, checks them before use, and reads their texts and YAML files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchwright.data.datasets import Source
from benchwright.data.errors import DatasetNotFound, DatasetParseError, DatasetValidationError
from benchwright.optional_libraries import importing
from benchwright.sandbox.docker.dockerfile import content_digest
from benchwright.text import one_line

MAX_FILES = 50_000
MAX_BYTES = 4 * 2**30
MAX_TEXT_LENGTH = 2**20
"""Maximum size in bytes of an instruction or a settings file."""


class TaskFolders:
    """The task folders below a root directory. Worker processes build their own copy of this object."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    def set_source(self, source: Source) -> None:
        """Set the data source that contains the tasks."""
        self._root = source.root

    def __getitem__(self, task: str) -> Path:
        """Return the folder of a task, given by its path relative to the root."""
        assert self._root is not None, "the tasks are read first"
        return self._root / task

    def find_tasks(self, source: Source) -> Iterator[tuple[str, Path]]:
        """Find the task folders, check each, and yield (relative path, folder).

        A task folder contains one of the source's task files. Folders inside a task's folder are not tasks.

        Raises:
            DatasetError: If a folder is invalid. The message names the path.
        """
        self.set_source(source)
        folders = {file.parent: None for file in source.files() if file.name.startswith("task.")}
        for folder in folders:
            if folders.keys().isdisjoint(folder.parents):
                check_folder_tree(folder, source.root)
                yield folder.relative_to(source.root).as_posix(), folder


def check_folder_tree(folder: Path, root: Path) -> None:
    """Check that a folder is not too large, and that it has only files, folders, and links that stay inside.

    Raises:
        DatasetValidationError: If the check fails. The message names the offending path.
    """
    real = folder.resolve()
    if not real.is_relative_to(root.resolve()):
        raise DatasetValidationError(f"{folder} is a link that leads out of {root}")
    size = 0
    for files, path in enumerate(_all_below(folder), 1):
        status = path.lstat()
        size += status.st_size
        if stat.S_ISLNK(status.st_mode):
            if not path.resolve().is_relative_to(real):
                raise DatasetValidationError(f"{path} is a link that leads out of its task")
        elif not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise DatasetValidationError(f"{path} is neither a file nor a folder")
        if size > MAX_BYTES:
            raise DatasetValidationError(f"{folder} holds more than {MAX_BYTES // 2**30} GiB")
        if files > MAX_FILES:
            raise DatasetValidationError(f"{folder} holds more than {MAX_FILES:,} files")


def task_digest(folder: Path) -> str:
    """Return a digest of all files of a task, so that results for another version of the task are never reused."""
    return content_digest(folder, "task")


def read_text(path: Path) -> str:
    """Read a text file of a task.

    Raises:
        DatasetError: If the file is missing, too long, or not text.
    """
    try:
        if path.stat().st_size > MAX_TEXT_LENGTH:
            raise DatasetValidationError(f"{path} is longer than {MAX_TEXT_LENGTH:,} bytes")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise DatasetNotFound(f"{path} is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetValidationError(f"{path} cannot be read: {error}") from error


def _all_below(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        yield from (Path(here, name) for name in [*folders, *files])


MAX_YAML_BYTES = 256 * 1024
MAX_NESTING = 50
MAX_ALIASES = 24
"""Maximum number of references (aliases) in a YAML file.

More references could expand a file to any size. This number can expand it to about 6,000 times its size.
"""


def read_yaml(path: Path) -> Any:
    """Read a YAML file.

    Raises:
        DatasetParseError: If the file is not YAML.
        UserError: If PyYAML is not installed or cannot be imported.
    """
    with importing("PyYAML", "Tasks of Terminal-Bench 1.0 need", "docker"):
        import yaml  # type: ignore[import-untyped]
    try:
        if path.stat().st_size > MAX_YAML_BYTES:
            raise DatasetParseError(f"{path} is longer than {MAX_YAML_BYTES:,} bytes")
        text = path.read_bytes().decode("utf-8")
        _check(path, (type(token).__name__ for token in yaml.scan(text)))
        return yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise DatasetParseError(f"{path}: {one_line(str(error), 200)}") from error


def _check(path: Path, tokens: Iterator[str]) -> None:
    """Check, token by token, that a YAML file would not take long to parse.

    Raises:
        DatasetParseError: If the file is nested too deeply, or has too many references.
    """
    depth = aliases = 0
    for token in tokens:
        aliases += token == "AliasToken"
        depth += token.endswith("StartToken") - token.endswith("EndToken")
        if depth > MAX_NESTING or aliases > MAX_ALIASES:
            raise DatasetParseError(
                f"{path}: deeper than {MAX_NESTING} levels, or more than {MAX_ALIASES} references within the file"
            )
