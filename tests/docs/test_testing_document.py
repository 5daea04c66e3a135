"""Every command in docs/test.md runs as written, but for the address of the model."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.programs import run_benchwright
from tests.simulated import simulated_endpoint

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "test.md").read_text(encoding="utf-8")
COMMANDS = [
    " ".join(block.replace("\\\n", " ").split())
    for block in re.findall(r"^```bash\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
]
BATCHES = [line for line in COMMANDS if "--interactive" not in line]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("document")
    shutil.copytree(ROOT / "examples", place, dirs_exist_ok=True)
    return place


@pytest.fixture(scope="module")
def model(place: Path) -> Iterator[str]:
    """Calls the calculator for every row, then says the right number."""
    rows = [json.loads(line) for line in (place / "arithmetic.jsonl").read_text().splitlines()]
    key = [
        {
            "prompt": row["user_prompt"],
            "answer": row["ground_truth"],
            "tool_calls": [{"name": "calculate", "arguments": {"expression": row["expression"]}}],
        }
        for row in rows
    ]
    with simulated_endpoint(answers=key) as base_url:
        yield base_url


def run(line: str, place: Path, model: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    arguments = shlex.split(line.replace("http://localhost:8000/v1", model))
    assert arguments.pop(0) == "benchwright"
    return run_benchwright(arguments, directory=place, typed=typed)


@pytest.mark.parametrize("line", BATCHES)
def test_every_row_of_a_batch_passes_with_two_calls(line: str, place: Path, model: str) -> None:
    ended = run(line, place, model)
    assert ended.returncode == 0, ended.stderr
    text = ended.stdout if "--json" in line else (place / "results.json").read_text()
    document = json.loads(text)
    assert (document["summary"]["total"], document["summary"]["passed"]) == (3, 3)
    assert [row["token_usage"]["num_llm_calls"] for row in document["results"]] == [2, 2, 2]


def test_stepping_begins_at_the_row_named(place: Path, model: str) -> None:
    (line,) = (line for line in COMMANDS if "--interactive" in line)
    ended = run(line, place, model, "n\nq\n")
    assert ended.returncode == 0, ended.stderr
    row = json.loads((place / "arithmetic.jsonl").read_text().splitlines()[5])
    assert f"[1] user: {row['user_prompt']}\n[Step 1] > n\n" in ended.stdout
    assert f"[3] tool: {row['ground_truth']}\n[Step 2] > q\n" in ended.stdout
