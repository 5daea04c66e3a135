"""The commands of docs/suites.md about its example run as written, and their numbers are those that must come out.

The model is a simulated one that answers everything rightly, so every score is known beforehand: 1.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.catalog.made_up_rows import COUNT, write_all
from tests.catalog.played import scripts
from tests.catalog.punkt_model import lay_fetched
from tests.simulated import simulated_endpoint

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "suites.md").read_text(encoding="utf-8")
LINES = [
    line
    for line in "".join(re.findall(r"^```bash\n(.*?)^```", TEXT, re.M | re.S)).splitlines()
    if "nightly" in line
]
NOT_RUN = "benchwright view --suite nightly"
"""tests/web/test_viewer_suite.py and test_suites.py do."""

QUESTIONS = 30


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A directory with the file of the document, and the data that it names."""
    program = Program(tmp_path_factory.mktemp("suites"))
    data = write_all(program.directory / "data")
    lay_fetched(data)
    shutil.copy(ROOT / "examples" / "questions.jsonl", program.directory)
    rows = map(json.loads, (program.directory / "questions.jsonl").read_text().splitlines())
    key = [{"prompt": row["question"], "answer": row["answer"]} for row in rows]
    played = [one for name in ("mmlu_pro", "ifeval") for one in asyncio.run(scripts(name, data / name, ()))]
    (toml,) = re.findall(r"^```toml\n(.*?)^```", TEXT, re.M | re.S)
    with simulated_endpoint(scripts=played, answers=key) as url:
        program.write("nightly.toml", toml.replace("http://localhost:8000/v1", url))
        yield program


def test_every_command_runs_in_the_order_of_the_document(place: Program) -> None:
    for line in LINES:
        if line != NOT_RUN:
            done = place.run(*shlex.split(line)[1:])
            assert done.returncode == 0, (line, done.stderr)
    table = json.loads(place.run("table", "--suite=nightly", "--json").stdout)
    assert [column["name"] for column in table["columns"]] == ["mmlu_pro", "ifeval", "eval questions"]
    assert {row["model"] for row in table["rows"]} == {"my-model", "my-model, warm", "another-model"}
    for row in table["rows"]:
        assert [(cell["n"], cell["mean"]) for cell in row["cells"]] == [
            (COUNT, 1.0),
            (COUNT, 1.0),
            (3 * QUESTIONS, 1.0),
        ]
    assert "another" in (place.directory / "nightly.md").read_text()
    assert len(place.runs) == 9
