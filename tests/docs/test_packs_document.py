"""Every command of docs/packs.md runs as written, in its order, in one directory."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.programs import run_benchwright
from tests.simulated import simulated_endpoint

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "http://localhost:8000/v1"
ANSWERS = [
    {"prompt": "single word READY", "answer": "READY"},
    {"prompt": "Mira is 34", "answer": '{"name": "Mira", "age": 34, "city": "Oslo"}'},
    {"prompt": "12 boxes", "answer": "Answer: 21"},
    {"prompt": "day before Thursday", "answer": "Answer: Friday"},
]
"""What is right in the scenarios of the templates."""


def commands() -> list[str]:
    """The shell commands of the document, continued lines joined, comments taken off."""
    text = (ROOT / "docs/packs.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+#.*", "", " ".join(line.split())) for line in lines if line.strip()]


def run(line: str, place: Path, address: str) -> subprocess.CompletedProcess[str]:
    arguments = shlex.split(line.replace(ADDRESS, address))[1:]
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(place / "home")}
    return run_benchwright(arguments, directory=place, environment=environment)


def test_the_commands_of_the_document_run_and_score_what_they_must(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Node on the PATH (.ci/run installs it)")
        pytest.skip("there is no Node on the PATH")
    with simulated_endpoint(answers=ANSWERS) as address:
        for line in commands():
            ended = run(line, tmp_path, address)
            assert ended.returncode == 0, (line, ended.stderr)
            if (
                " run " in line
                and "--retry" not in line
                and "--provider" not in line
                and "--json" not in line
            ):
                assert "my-model: 100  " in ended.stdout, line
            if line.endswith("--json"):
                (told,) = json.loads(ended.stdout)["packs"]
                assert told["scores"]["endpoint:my-model"]["totalScore"] == 100
        runs = sorted((tmp_path / "home" / "runs").glob("*my-pack-my-model*"), key=lambda path: path.name)
        shown = run(f"benchwright show {runs[-1]}", tmp_path, address)
        assert "my-model: 100  4 of 4 passed" in shown.stdout
        spoken = run(f"benchwright show {runs[-1]} --scenario A-01", tmp_path, address)
        assert "Reply with the single word READY" in spoken.stdout
    assert (tmp_path / "attempts.csv").read_text().startswith("pack,model,scenario,")
    assert "| my-model | 100 |" in (tmp_path / "card.md").read_text()
