"""Benchmarks of the catalog on a real server, with a few rows of our own in the layout of the hub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import scores, trials
from tests.catalog import made_up_rows
from tests.field.field_kit import PRECISE, Field, check_counted, requests

from benchwright.records import FAILED_STATUSES
from benchwright.runs.journal import read_body

COUNT = made_up_rows.COUNT


def run(field: Field, name: str, *options: str) -> dict[str, Any]:
    """Run a benchmark whose every trial must have a result; return the documented file."""
    data = field.program.directory / "data" / name
    data.mkdir(parents=True)
    getattr(made_up_rows, name)(data)
    with field.log() as log:
        ended = field.run("run", name, "--data-dir", "data", "--concurrency", "2", *options, *PRECISE)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    run = field.program.only_run
    assert [trial.status for trial in trials(run) if trial.status in FAILED_STATUSES] == []
    assert len(trials(run)) == COUNT
    check_counted(field, requests(run), log.requests)
    (file,) = Path(field.program.directory, "results").glob("*.json")
    written: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return written


@pytest.mark.feature("mmlu_pro")
def test_mmlu_pro_grades_every_answer(field: Field) -> None:
    written = run(field, "mmlu_pro", "--max-tokens", "32")
    assert written["num_samples"] == COUNT
    values = [score.value for score in scores(field.program.only_run)]
    assert written["accuracy"] == sum(value or 0.0 for value in values) / COUNT


@pytest.mark.feature("ifeval")
def test_ifeval_checks_the_instructions_on_what_the_model_wrote(field: Field) -> None:
    run(field, "ifeval", "--max-tokens", "64")
    (first,) = [trial for trial in trials(field.program.only_run) if "number 0" in question(field, trial)]
    answer = read_body(field.program.only_run, first).answer
    (score,) = [score for score in scores(field.program.only_run) if score.trial == first.key]
    assert score.value == float(bool(answer.strip()) and "," not in answer)


def question(field: Field, trial: Any) -> str:
    """Return the last message that a trial began with."""
    body = read_body(field.program.only_run, trial)
    return str(body.messages[0]["content"])
