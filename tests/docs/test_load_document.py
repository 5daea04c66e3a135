"""Every command in docs/load.md runs as written, against a simulated server; options at its end make it short.

Addresses are replaced by that of the server of the test. What must come out is known beforehand: the model knows all
answers.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.app.benchmark_kit import mmlu_rows
from tests.catalog.catalog_kit import write_rows
from tests.catalog.played import scripts
from tests.programs import run_benchwright
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.comparison.records import LoadComparison
from benchwright.analysis.load.records import LevelResult, LoadReport

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "load.md").read_text(encoding="utf-8")
COMMANDS = [
    " ".join(line.split())
    for block in re.findall(r"^```bash\n(.*?)^```", TEXT, re.M | re.S)
    for line in block.replace("\\\n", " ").splitlines()
]
LOADS = [line for line in COMMANDS if line.startswith("benchwright load")]
DOCUMENTED = "http://localhost:8000/v1"

Place = tuple[Path, str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A directory with everything that the examples name, and a model that knows its answers.

    Measurements that a line writes for another to read are there from the start: any line runs alone."""
    directory = tmp_path_factory.mktemp("load")
    shutil.copy(ROOT / "examples" / "questions.jsonl", directory)
    data = write_rows(directory / "data" / "mmlu" / "test.jsonl", mmlu_rows(8))
    (directory / "arrivals.txt").write_text("# seconds\n0\n0.1\n0.15\n0.4\n")
    flat = {"timestamp": 300, "input_length": 600, "output_length": 9, "hash_ids": [1, 2]}
    (directory / "mooncake.jsonl").write_text(
        json.dumps({**flat, "timestamp": 0}) + "\n" + json.dumps(flat) + "\n"
    )
    turn = {"t": 0, "type": "s", "in": 70, "out": 9, "hash_ids": [1], "think_time": 0.1}
    (directory / "agents.jsonl").write_text(json.dumps({"id": "c", "requests": [turn, turn]}) + "\n")
    questions = [json.loads(line) for line in (directory / "questions.jsonl").read_text().splitlines()]
    key = [{"prompt": row["question"], "answer": row["answer"]} for row in questions]
    with simulated_endpoint(
        *("--first-token", "30", "--slots", "8", "--policy", "words", "--words", "200"),
        answers=key,
        scripts=asyncio.run(scripts("mmlu", data, ())),
    ) as url:
        for line in LOADS:
            if " -o " in line:
                measured(line, (directory, url))
        yield directory, url


def measured(line: str, place: Place) -> list[LoadReport]:
    """Runs a line of the document, and what shortens it; the report of each model."""
    directory, url = place
    short = [] if "--trace" in line else ["--duration", "0.5"] if "--sweep" in line else ["--requests", "12"]
    words = shlex.split(line.replace(DOCUMENTED, url))[1:]
    words += [] if url in words else ["--base-url", url]
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(directory / "home")}
    ended = run_benchwright(
        [*words, *short, "--json", "-q"], directory=directory, environment=environment, timeout=100
    )
    assert ended.returncode == 0, ended.stderr
    if line.count("--model ") == 1 and "--against" not in line:
        return [msgspec.json.decode(ended.stdout, type=LoadReport)]
    return msgspec.json.decode(ended.stdout, type=LoadComparison).reports


@pytest.mark.parametrize("line", LOADS)
def test_a_measurement_of_the_document_answers_and_grades_everything(line: str, place: Place) -> None:
    reports = measured(line, place)
    numbers = re.search(r"--(?:concurrency|rate) ([\d,]+)", line)
    repeats = re.search(r"--repeats (\d+)", line)
    if numbers is not None:
        each = int(repeats[1]) if repeats else 1
        assert {len(report.levels) for report in reports} == {each * len(numbers[1].split(","))}
    for level in (level for report in reports for level in report.levels):
        assert level.state == "finished"
        assert (level.failed, level.overall is not None) == (0, True)
        assert (level.goodput is None) == ("--slo" not in line)
        scored = "--scorer" in line or "mmlu" in line
        assert (level.judged.accuracy if level.judged else None) == (1.0 if scored else None)
    assert {report.saturation is None for report in reports} == {"--sweep" not in line}


def test_the_server_to_try_it_out_has_the_slots_that_the_text_says() -> None:
    (line,) = [line for line in COMMANDS if line.startswith("benchwright simulate")]
    assert "--slots 6" in line
    assert "saturated by six requests in flight" in TEXT


def test_every_option_that_the_document_names_is_one() -> None:
    shown = "".join(
        subprocess.run(
            [sys.executable, "-m", "benchwright", command, "--help-all"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for command in ("load", "report")
    )
    named = set(re.findall(r"`(--[a-z-]+)", TEXT)) | set(re.findall(r"(--[a-z-]+)", " ".join(LOADS)))
    assert {option for option in named if option not in shown} == set()


def test_the_fields_in_formats_are_those_of_the_records() -> None:
    formats = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    section = formats[formats.index("### `load`") : formats.index("### `--dry-run`")]
    named = set()
    for fields in re.findall(r"((?:`[a-z_0-9]+`(?:,\s+)?)+):", section):
        named |= set(re.findall(r"`([a-z_0-9]+)`", fields))
    known = {field for record in (LoadReport, LevelResult) for field in record.__struct_fields__}
    assert named == known | {"compared"}
