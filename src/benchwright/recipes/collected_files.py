"""Collects the text files that an agent leaves in its folders, up to a total size."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

MAX_FILE_BYTES = 1024 * 1024
MAX_TOTAL_BYTES = 8 * 1024 * 1024
"""`MAX_FILE_BYTES`: maximum size in bytes of a file that is kept.

`MAX_TOTAL_BYTES`: maximum size in bytes of all kept files together.
"""
MAX_PATHS_EXAMINED = 20_000
"""Maximum number of files and folders that are examined."""

TOOL_LEFTOVERS = (
    ".git",
    ".claude",
    ".codex",
    ".qwen",
    ".gemini",
    ".opencode",
    ".aider*",
    "__pycache__",
    "node_modules",
)
"""Names of files and folders that agents and their tools leave in a work folder, but that are not the work itself."""


def texts_below(folder: Path, patterns: Sequence[str], without: Sequence[str] = ()) -> dict[str, str]:
    """Return the text files below a folder that match one of the patterns: a mapping from path to text.

    See `files_below` for the patterns, and `texts_of` for the limits.
    """
    return texts_of(folder, files_below(folder, patterns, without))


def files_below(folder: Path, patterns: Sequence[str], without: Sequence[str] = ()) -> list[str]:
    """Return the sorted paths of the files below a folder that match one of the patterns.

    In a pattern, `*` and `?` match characters of one name, and `**/` matches any folders. Links are not
    followed. Even `folder` itself may not be a link, because an agent could replace it with a link to the
    user's files. Files and folders with a name in `without` are skipped. After `MAX_PATHS_EXAMINED` names,
    all further names are skipped.
    """
    fits = re.compile("|".join(map(_expression, patterns)) or "(?!)").fullmatch
    passed_over = re.compile("|".join(map(_expression, without)) or "(?!)").fullmatch
    found: list[str] = []
    folders, seen = [""] if not os.path.islink(folder) else [], 0
    while folders and seen < MAX_PATHS_EXAMINED:
        here = folders.pop()
        try:
            with os.scandir(os.path.join(folder, here)) as listing:
                entries = list(itertools.islice(listing, MAX_PATHS_EXAMINED - seen))
        except OSError:
            continue  # it is not readable, or its path is too long
        seen += len(entries)
        for entry in entries:
            path = here + entry.name
            if passed_over(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(path + "/")
            elif entry.is_file(follow_symlinks=False) and fits(path):
                found.append(path)
    return sorted(found)


def texts_of(folder: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return the texts of these files in a folder, up to a total size: a mapping from path to text.

    A file that is too large, or that would exceed the total, is skipped.
    """
    found: dict[str, str] = {}
    left = MAX_TOTAL_BYTES
    for path in paths:
        try:
            size = os.path.getsize(folder / path)
            if size > min(left, MAX_FILE_BYTES):
                continue
            text = (folder / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        found[os.fsencode(path).decode("utf-8", "replace")] = text
        left -= size
    return found


def _expression(pattern: str) -> str:
    """Return the regular expression for a pattern."""
    escaped = re.escape(pattern)
    for written, meant in ((r"\*\*/", "(?:[^/]+/)*"), (r"\*", "[^/]*"), (r"\?", "[^/]")):
        escaped = escaped.replace(written, meant)
    return escaped
