"""YAML as tasks are written in, read without making objects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchwright.data.errors import DatasetParseError
from benchwright.errors import UserError
from benchwright.text import one_line

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
