"""`make demo`'s program, as a newcomer sees it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 80


@pytest.mark.slow
def test_the_demo_shows_evaluations_a_benchmark_a_comparison_and_a_suite_with_their_known_scores(
    tmp_path: Path,
) -> None:
    copied = tmp_path / "project" / "examples"
    shutil.copytree(ROOT / "examples", copied, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, str(copied / "demo.py")], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= MOST_LINES
    assert "simulated-70b is better than simulated-7b by 20.0 points" in lines[-1]
    outputs = {path.stem: path.read_text() for path in (copied.parent / "demo" / "output").glob("*.txt")}
    assert sum(output.count("SIMULATED: the answers") for output in outputs.values()) == 4
    assert "SIMULATED: the answers" in done.stdout
    assert "pass@k" in outputs["1-questions"]
    assert lines[-1] in outputs["6-verdict"]
    assert str(copied.parent / "demo" / "output") in done.stdout
    assert str(copied.parent / "demo" / "runs") in done.stdout
    runs = sorted((copied.parent / "demo" / "runs").glob("2*"))
    scores = [score_mean(run) for run in runs]
    suite = [8 / 12, 101 / 150, 11 / 12, 133 / 150]
    assert scores == [round(score, 6) for score in (0.7, 0.9, 17 / 24, 8 / 12, *suite)]
    result, _ = (copied.parent / "demo" / "results").glob("capitals_simulated-7b_*.json")
    assert json.loads(result.read_text())["accuracy"] == 8 / 12
    assert str(result.parent) in done.stdout
    end = done.stdout.partition("5. A suite")[2]
    assert re.search(r"^simulated-70b  1\* 0\.917 .*  1\* 0\.887 ", end, re.M)
    assert re.search(r"^simulated-7b   1~ 0\.667 .*  2  0\.673 ", end, re.M)
    page = copied.parent / "demo" / "suite.html"
    assert page.as_uri() in end
    assert "<title>demo" in page.read_text()


def score_mean(run: Path) -> float:
    lines = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    values: list[float] = [line["value"] for line in lines if line["type"] == "score"]
    return round(sum(values) / len(values), 6)
