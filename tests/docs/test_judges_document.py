"""The example of docs/judges.md runs as written and ends with the lines that the document shows."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from tests.docs.test_own_documents import commands
from tests.programs import run_benchwright
from tests.simulated import simulated_endpoint

DOCUMENT = "docs/judges.md"
TEXT = (Path(__file__).resolve().parents[2] / DOCUMENT).read_text(encoding="utf-8")
FILES, LABELLING = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
(SHOWN,) = re.findall(r"\n\n```\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
EXAMPLE = [line for line in commands(DOCUMENT) if "statements" in line]


def test_the_example_ends_as_the_document_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(FILES)
    environment = {
        **os.environ,
        "BENCHWRIGHT_HOME": str(tmp_path / "home"),
        "OSMOSIS_CACHE_DIR": str(tmp_path),
    }
    said = ""
    with (
        simulated_endpoint("--answers", "model.jsonl") as model,
        simulated_endpoint("--answers", "judge.jsonl") as judge,
    ):
        for line in EXAMPLE:
            if " labels statements" in line:
                exec(LABELLING)
            line = line.replace("http://localhost:8000/v1", model).replace("http://localhost:9000/v1", judge)
            done = run_benchwright(shlex.split(line)[1:], directory=tmp_path, environment=environment)
            assert done.returncode == 0, done.stderr
            said = done.stdout
    assert " ".join(SHOWN.split()) in " ".join(said.split())
