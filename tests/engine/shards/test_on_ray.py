"""Runs on Ray, in an environment that has it: the tests of `on_ray`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.environments import ROOT, programs_of

ROOM = Path(__file__).parent / "on_ray"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_test_of_the_folder_passes() -> None:
    python = programs_of("ray") / "python"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "RAY_USAGE_STATS_ENABLED": "0"}
    tests = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(ROOM)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 0, tests.stdout[-6000:] + tests.stderr[-2000:]
    assert "skipped" not in tests.stdout.splitlines()[-1]
