"""What an agent leaves in its folders: text files by their paths, as many as can be kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

LARGEST_FILE = 1024 * 1024
LARGEST_TOTAL = 8 * 1024 * 1024
"""Bytes of one file, and of all, that are kept."""

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


def texts_below(folder: Path, patterns: Sequence[str], without: Sequence[str] = ()) -> dict[str, str]:
    """The text files that fit one of the patterns, by path; links are not followed, and nothing larger is kept."""
    found: dict[str, str] = {}
    left = LARGEST_TOTAL
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
        relative = path.relative_to(folder)
        if _left_out(relative.parts, without) or path.is_symlink() or not path.is_file():
            continue
        size = path.stat().st_size
        if size > min(left, LARGEST_FILE):
            continue
        try:
            found[str(relative)] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        left -= size
    return found


def _left_out(parts: Iterable[str], without: Sequence[str]) -> bool:
    return any(Path(part).match(pattern) for part in parts for pattern in without)
