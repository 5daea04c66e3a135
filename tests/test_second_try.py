"""The second try: what fails beside others and passes alone is named, what fails twice has failed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.second_try import FEW, ROOT, run_tests

ONCE = """
from pathlib import Path

def test_fails_once():
    mark = Path("there")
    there = mark.exists()
    mark.touch()
    assert there
"""


def run(directory: Path, content: str) -> int:
    (directory / "test_these.py").write_text(content)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", ".", "-c", os.devnull]
    return run_tests(sys.executable, options, directory=directory, environment=environment)


def test_what_passes_alone_is_no_failure_and_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, ONCE) == 0
    assert "passed alone: test_these.py::test_fails_once" in capfd.readouterr().out


def test_what_fails_twice_has_failed(tmp_path: Path) -> None:
    assert run(tmp_path, "def test_fails(): assert False") == 1


def test_many_failures_are_no_busy_machine(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    many = "\n".join(f"def test_{number}(): assert False" for number in range(FEW + 1))
    assert run(tmp_path, many) == 1
    assert "Once more" not in capfd.readouterr().out


def test_tests_that_cannot_be_collected_have_failed(tmp_path: Path) -> None:
    assert run(tmp_path, "import nothing_of_that_name") == 2
