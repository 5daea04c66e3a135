"""Slow tests that run by turns: each file at one commit in so many, and always at the same one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.turns import ROOT, has_turn

COMMITS = [f"{number:040x}" for number in range(300)]
FILE = ROOT / "tests" / "app" / "test_real_agents.py"


def test_a_file_has_its_turn_at_one_commit_in_three() -> None:
    assert sum(has_turn(FILE, commit, 3) for commit in COMMITS) == len(COMMITS) // 3


def test_a_commit_gives_about_a_third_of_the_files_their_turn() -> None:
    files = sorted(Path(ROOT, "tests").rglob("test_*.py"))
    shares = Counter(has_turn(file, COMMITS[0], 3) for file in files)
    assert 0.25 < shares[True] / len(files) < 0.42


def test_without_turns_every_file_runs_at_every_commit() -> None:
    assert all(has_turn(FILE, commit, 1) for commit in COMMITS)
