"""Repositories of made-up instances: their files, commits and differences."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

Files = Mapping[str, str]


def difference(folder: Path, files: Files) -> str:
    """The patch that makes files of the work tree so; it is as before afterwards."""
    write(folder, files)
    patch = git(folder, "diff")
    git(folder, "checkout", "--quiet", "--", ".")
    return patch


def commit_elsewhere(folder: Path, files: Files) -> None:
    """Leaves the fix on a branch, as some official images do."""
    start = git(folder, "symbolic-ref", "--short", "HEAD").strip()
    git(folder, "checkout", "--quiet", "-b", "fix")
    write(folder, files)
    commit(folder, "Fix")
    git(folder, "checkout", "--quiet", start)


def write(folder: Path, files: Files) -> None:
    """Writes files; what begins as a script can be run."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)


def commit(folder: Path, message: str) -> str:
    """Commits everything; returns the commit."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD").strip()


def git(folder: Path, *arguments: str) -> str:
    """What git prints."""
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "core.hooksPath=/dev/null")
    return subprocess.check_output(["git", *author, *arguments], cwd=folder, text=True)
