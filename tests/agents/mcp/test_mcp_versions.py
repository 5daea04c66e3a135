"""The other tests of this folder, with the versions of fastmcp that people still have."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.environments import ROOT, programs_of

ROOM = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", ["2", "3"])
def test_every_test_of_this_folder_passes(version: str) -> None:
    python = programs_of(f"fastmcp{version}") / "python"
    installed = run(python, "-c", "from importlib.metadata import version; print(version('fastmcp'))")
    assert installed.stdout.startswith(f"{version}.")
    tests = run(python, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", str(ROOM))
    assert tests.returncode == 0, tests.stdout[-6000:] + tests.stderr[-2000:]


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [python, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
