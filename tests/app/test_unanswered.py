"""A trial whose first request failed keeps what it asked, for everything that shows conversations."""

from __future__ import annotations

import json
import zipfile

import pytest
from tests.app.app_kit import NOWHERE, Program

ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Q: 2+2"}]


@pytest.fixture
def run(program: Program) -> str:
    """The id of a run of which every trial failed."""
    dataset = program.directory / "sums.jsonl"
    dataset.write_text(json.dumps({"question": "2+2", "answer": "4"}) + "\n")
    program.run(
        *(
            "eval",
            "-d",
            "sums.jsonl",
            "--scorer",
            "exact",
            "--system",
            "Be brief.",
            "--template",
            "Q: {prompt}",
        ),
        *("--model", "m", "--base-url", NOWHERE, "--no-probe", "--retries", "0"),
    )
    (directory,) = (program.home / "runs").glob("2*")
    return directory.name


def test_show_has_it(program: Program, run: str) -> None:
    (attempt,) = json.loads(program.run("show", run, "--row", "0", "--json").stdout)["attempts"]
    assert attempt["body"]["unanswered"] == ASKED
    shown = program.run("show", run, "--row", "0").stdout
    assert "Be brief." in shown
    assert "Q: 2+2" in shown


def test_an_inspect_log_has_it(program: Program, run: str) -> None:
    program.run("export", run, "--format", "inspect", "-o", "logs")
    with zipfile.ZipFile(program.directory / "logs" / f"{run}.eval") as log:
        sample = json.loads(log.read("samples/0_epoch_1.json"))
    assert sample["messages"] == ASKED
    assert "error" in sample
