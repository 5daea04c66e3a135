"""Runs pytest; a few tests that fail are run once more, alone, so that a busy machine is told from a broken program.

    python tests/second_try.py -n 3 -m "not slow" tests

What failed beside other tests and passed alone is named at the end, so that it can be mended. More than FEW failures,
an error in collecting, or an interruption are what they are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FEW = 5
FAILED = 1
"""pytest's exit code where tests failed."""

NOTED = "BENCHWRIGHT_FAILED_TESTS"
"""The variable that names the file for the ids of the tests that failed."""


def run_tests(
    python: Path | str,
    options: Sequence[str],
    *,
    directory: Path = ROOT,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Runs pytest with these options in a directory, and what fails once more; returns the exit code."""
    pytest = [str(python), "-m", "pytest", "-p", "tests.second_try"]
    with tempfile.TemporaryDirectory() as folder:
        noted = Path(folder, "failed")
        named = {**(os.environ if environment is None else environment), NOTED: str(noted)}
        code = subprocess.run([*pytest, *options], cwd=directory, env=named, check=False).returncode
        failed = noted.read_text(encoding="utf-8").splitlines() if noted.exists() else []
    if code != FAILED or not 0 < len(failed) <= FEW:
        return code
    print(f"Once more, alone: {' '.join(failed)}", flush=True)
    alone = [*pytest, "-p", "no:xdist", "-p", "no:randomly", "-q", "-ra", *failed]
    code = subprocess.run(alone, cwd=directory, env=environment, check=False).returncode
    if code == 0:
        print(f"Failed beside other tests and passed alone: {' '.join(failed)}", flush=True)
    return code


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """As a plugin of pytest: writes down what failed, a line each."""
    if path := os.environ.get(NOTED):
        reports = [report for kind in ("failed", "error") for report in terminalreporter.stats.get(kind, [])]
        ids = sorted({str(getattr(report, "nodeid", "")) for report in reports})
        Path(path).write_text("".join(f"{one}\n" for one in ids), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(run_tests(sys.executable, sys.argv[1:]))
