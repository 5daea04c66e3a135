"""Slow tests by turns: CI runs those of one file in three at each commit, and the others at other commits.

    pytest -p tests.turns --turns 3

Which files have their turn depends on the commit alone, so that a failure is found again. `make test-slow` and
`make test-all` run all of them.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from zlib import crc32

import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--turns`."""
    parser.addoption("--turns", type=int, default=1, help="run the slow tests of one file in so many")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the slow tests whose turn this commit is not."""
    turns: int = config.getoption("--turns")
    if turns > 1:
        commit = head()
        waiting = [
            item
            for item in items
            if item.get_closest_marker("slow") and not has_turn(item.path, commit, turns)
        ]
        config.hook.pytest_deselected(items=waiting)
        later = set(waiting)
        items[:] = [item for item in items if item not in later]


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that slow tests wait for another commit."""
    turns: int = config.getoption("--turns")
    if turns == 1:
        return None
    return f"turns: slow tests of one file in {turns}; the others run at other commits, all of them in make test-slow"


def has_turn(file: Path, commit: str, turns: int) -> bool:
    """Return True if the slow tests of a file run at a commit. Each file has its turn at one commit in `turns`."""
    number = crc32(file.relative_to(ROOT).as_posix().encode())
    return (number + int(commit, 16)) % turns == 0


def head() -> str:
    """Return the digest of the last commit."""
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
