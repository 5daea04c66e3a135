"""What an agent leaves in its folders: text files by their paths, as many as can be kept.

Run in containers as text, so it needs the standard library alone. An agent may leave anything: folders without end,
pipes, names that are no text, files that vanish. A walk looks at so many entries only, and opens plain files only.
"""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

LARGEST_FILE = 1024 * 1024
LARGEST_TOTAL = 8 * 1024 * 1024
"""Bytes of one file, and of all, that are kept."""
MOST_FILES = 500
"""Files that are kept: those nearest to the top, by name."""
MOST_ENTRIES = 20_000
"""Files and folders that are looked at."""
DEEPEST = 64
"""Folders below one another that are looked into."""

OWN_FILES = (
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
"""What agents and their tools leave in a work folder beside the work."""

_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_AS_REGEX = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


class Texts:
    """Texts by path as they are collected, and how many files were left out, by the reason."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.left_out: dict[str, int] = {}
        self._room = LARGEST_TOTAL

    def take(self, name: str, path: str) -> None:
        """Read a file and keep its text, or count why it is not kept."""
        if len(self.found) >= MOST_FILES:
            self.leave_out(f"beyond the first {MOST_FILES:,}")
            return
        try:
            content = _read(path)
        except OSError:
            self.leave_out("not readable")
            return
        if content is None:
            self.leave_out("no plain file")
        elif len(content) > min(self._room, LARGEST_FILE):
            large = len(content) > LARGEST_FILE
            self.leave_out("larger than 1 MiB" if large else "beyond 8 MiB of all files")
        else:
            self._keep(name, content)

    def _keep(self, name: str, content: bytes) -> None:
        try:
            self.found[name] = content.decode("utf-8")
            self._room -= len(content)
        except UnicodeDecodeError:
            self.leave_out("no text")

    def leave_out(self, reason: str) -> None:
        """Count a file that is not kept."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1

    @property
    def note(self) -> str | None:
        """One line that says what was not kept and why; None if everything was."""
        told = ", ".join(f"{reason}: {count:,}" for reason, count in self.left_out.items())
        return f"not kept: {told}" if told else None


def collect_texts(folder: Path, patterns: Sequence[str], without: Sequence[str] = ()) -> Texts:
    """Collect the text files below a folder whose path fits one of the patterns. Links are not followed."""
    texts = Texts()
    fits = re.compile("|".join(map(_regex, patterns)) or r"(?!)", re.DOTALL)
    for name, path in _walk(folder, without, texts):
        if fits.fullmatch(name):
            texts.take(_shown(name), path)
    return texts


def texts_below(folder: Path, patterns: Sequence[str], without: Sequence[str] = ()) -> dict[str, str]:
    """Return the texts of `collect_texts` by path."""
    return collect_texts(folder, patterns, without).found


def _walk(folder: Path, without: Sequence[str], texts: Texts) -> Iterator[tuple[str, str]]:
    """Yield (path below the folder, path) of everything that is no folder and no link, the nearest first."""
    left = MOST_ENTRIES
    ahead = deque([("", 0)])
    while ahead:
        below, depth = ahead.popleft()
        entries = _entries(os.path.join(folder, below), left)
        if len(entries) == left:
            texts.leave_out(f"more than {MOST_ENTRIES:,} entries")
        left -= len(entries)
        for entry in entries:
            name = below + entry.name
            if entry.is_symlink() or any(fnmatchcase(entry.name, pattern) for pattern in without):
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield name, entry.path
            elif depth < DEEPEST:
                ahead.append((f"{name}/", depth + 1))
            else:
                texts.leave_out(f"folders deeper than {DEEPEST}")
        if not left:
            return


def _entries(path: str, most: int) -> list[os.DirEntry[str]]:
    """Return what lies in a folder, by name, `most` entries of it; nothing if it cannot be read or is a link."""
    if os.path.islink(path.rstrip("/")):
        return []
    try:
        with os.scandir(path) as found:
            return sorted(islice(found, most), key=lambda entry: entry.name)
    except OSError:
        return []


def _read(path: str) -> bytes | None:
    """Return the content of a plain file, one byte more than is kept at most; None if it is something else."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return None  # to open a device can have an effect
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        return file.read(LARGEST_FILE + 1) if stat.S_ISREG(os.fstat(handle).st_mode) else None


def _shown(name: str) -> str:
    """Return a path as text: bytes that are not UTF-8 become `\\xff`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _regex(pattern: str) -> str:
    """Return the regular expression of a pattern with `**`, `*` and `?`, as `Path.glob` has them."""
    return "".join(_AS_REGEX.get(part) or re.escape(part) for part in _PARTS.findall(pattern))
