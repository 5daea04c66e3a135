"""The folders of tasks: found in a source, checked before use; their texts and YAML files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchwright.data.datasets import Source
from benchwright.data.errors import DatasetNotFound, DatasetParseError, DatasetValidationError
from benchwright.errors import UserError
from benchwright.sandbox.docker.dockerfile import content_digest
from benchwright.text import one_line

MOST_FILES = 50_000
MOST_BYTES = 4 * 2**30
LONGEST_TEXT = 2**20
"""Bytes of an instruction or of a file of settings."""


class TaskFolders:
    """Where the tasks of a source lie; made again in other processes."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    def lie_in(self, source: Source) -> None:
        """Says where they are."""
        self._root = source.root

    def __getitem__(self, task: str) -> Path:
        """The folder of a task, by its path from the root."""
        assert self._root is not None, "the tasks are read first"
        return self._root / task

    def all(self, source: Source) -> Iterator[tuple[str, Path]]:
        """The folders that hold the source's files, each with its path from the root, checked.

        What lies within a task is not a task.

        Raises:
            DatasetError: one is not as it should be; names the path.
        """
        self.lie_in(source)
        folders = {file.parent: None for file in source.files() if file.name.startswith("task.")}
        for folder in folders:
            if folders.keys().isdisjoint(folder.parents):
                check_tree(folder, source.root)
                yield folder.relative_to(source.root).as_posix(), folder


def check_tree(folder: Path, root: Path) -> None:
    """Sees to it that a folder holds files, folders, and links that stay inside of it, and not too much of them.

    Raises:
        DatasetValidationError: it does not; names the path.
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
        if size > MOST_BYTES:
            raise DatasetValidationError(f"{folder} holds more than {MOST_BYTES // 2**30} GiB")
        if files > MOST_FILES:
            raise DatasetValidationError(f"{folder} holds more than {MOST_FILES:,} files")


def digest(folder: Path) -> str:
    """A digest of all that is in a task's folder, so that conversations about another version are not taken again."""
    return content_digest(folder, "task")


def read_text(path: Path) -> str:
    """A text of a task.

    Raises:
        DatasetError: it is not there, too long, or no text.
    """
    try:
        if path.stat().st_size > LONGEST_TEXT:
            raise DatasetValidationError(f"{path} is longer than {LONGEST_TEXT:,} bytes")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise DatasetNotFound(f"{path} is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetValidationError(f"{path} cannot be read: {error}") from error


def _all_below(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        yield from (Path(here, name) for name in [*folders, *files])


LONGEST = 256 * 1024
DEEPEST = 50
MOST_ALIASES = 24
"""A file with many references to its own parts could unfold to any size; with these, to some 6,000 times its own."""


def read_yaml(path: Path) -> Any:
    """What a YAML file holds.

    Raises:
        DatasetParseError: it is no YAML.
        UserError: PyYAML is not installed.
    """
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise UserError(
            "Tasks of Terminal-Bench 1.0 need PyYAML: pip install 'benchwright[docker]'"
        ) from None
    try:
        if path.stat().st_size > LONGEST:
            raise DatasetParseError(f"{path} is longer than {LONGEST:,} bytes")
        text = path.read_bytes().decode("utf-8")
        _check(path, (type(token).__name__ for token in yaml.scan(text)))
        return yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise DatasetParseError(f"{path}: {one_line(str(error), 200)}") from error


def _check(path: Path, tokens: Iterator[str]) -> None:
    """Refuses what would take long to read; the tokens are looked at one by one."""
    depth = aliases = 0
    for token in tokens:
        aliases += token == "AliasToken"
        depth += token.endswith("StartToken") - token.endswith("EndToken")
        if depth > DEEPEST or aliases > MOST_ALIASES:
            raise DatasetParseError(
                f"{path}: deeper than {DEEPEST} levels, or more than {MOST_ALIASES} references within the file"
            )
