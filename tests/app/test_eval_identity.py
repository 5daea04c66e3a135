"""A dataset whose column `id` names its rows: what is paired, shown and kept by that id, and what by the row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.simulated import simulated_endpoint

IDS = ["q-c", "q-a", "q-b", "q-d"]
RIGHT = {"q-a": ("q-a", "q-b"), "q-b": ("q-b", "q-c", "q-d")}
"""What each model answers rightly."""


def row(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "question": f"Which is {name}?",
        "answer": str(ord(name[-1])),
        "group": "ab" if name[-1] in "ab" else "cd",
    }


@pytest.fixture
def project(program: Program) -> Program:
    """Two models on the same questions in another order."""
    for model, ids in (("q-a", IDS), ("q-b", sorted(IDS))):
        dataset = program.directory / model / "quiz.jsonl"
        dataset.parent.mkdir()
        dataset.write_text("".join(json.dumps(row(name)) + "\n" for name in ids))
        key = [
            {"prompt": f"Which is {name}?", "answer": str(ord(name[-1]) if name in RIGHT[model] else 7)}
            for name in IDS
        ]
        with simulated_endpoint("--accuracy", "1", answers=key) as url:
            ended = program.run(
                *("eval", "-d", str(dataset), "--scorer", "numeric", "--model", model, "--base-url", url),
            )
        assert ended.returncode == 0, ended.stderr
    return program


def test_runs_are_paired_by_the_id_whatever_the_order_of_rows(project: Program) -> None:
    ended = project.run("compare", *sorted(one.name for one in (project.home / "runs").iterdir()), "--json")
    assert ended.returncode == 0, ended.stderr
    (pair,) = json.loads(ended.stdout)["pairs"]
    (score,) = pair["scores"]
    assert (score["n"], score["wins"], score["losses"], score["ties"]) == (4, 2, 1, 1)
    assert pair["alignment"].startswith("by the ids of the samples")
    assert {(one["sample"], one["repeat"]) for one in score["changes"]} == {
        ("q-a", 0),
        ("q-c", 0),
        ("q-d", 0),
    }


def test_the_documented_file_has_rows(project: Program) -> None:
    (entry,) = (json.loads(path.read_text()) for path in (project.home / "cache").rglob("q-a/quiz/*.json"))
    scores = {run["row_index"]: run["scores"]["numeric"] for run in entry["runs"]}
    assert list(scores) == [0, 1, 2, 3]
    assert scores == {place: float(name in RIGHT["q-a"]) for place, name in enumerate(IDS)}


@pytest.mark.parametrize("option", [("--row", "1"), ("--sample", "q-a")])
def test_a_conversation_is_found_by_its_row_and_by_its_id(project: Program, option: tuple[str, str]) -> None:
    run = min((project.home / "runs").glob("*-q-a-*")).name
    ended = project.run("show", run, *option, "--json")
    assert ended.returncode == 0, ended.stderr
    (attempt,) = json.loads(ended.stdout)["attempts"]
    assert attempt["trial"]["sample"] == "q-a"


def test_a_finished_eval_is_found_again(project: Program) -> None:
    run = min((project.home / "runs").glob("*-q-a-*"))
    manifest = json.loads((run / "run.json").read_text())
    assert manifest["data"][0]["columns"] == {"id": "id", "group": "group"}
    url = manifest["targets"][0]["base_url"]
    ended = project.run(
        "eval",
        "-d",
        str(project.directory / "q-a" / "quiz.jsonl"),
        "--scorer",
        "numeric",
        "--model",
        "q-a",
        "--base-url",
        url,
        "--no-probe",
    )
    assert ended.returncode == 0, ended.stderr
    assert "cached" in ended.stdout


def test_an_export_has_both(project: Program) -> None:
    run = min((project.home / "runs").glob("*-q-a-*")).name
    project.run("export", run, "-o", "trials.jsonl")
    rows = [json.loads(line) for line in Path(project.directory, "trials.jsonl").read_text().splitlines()]
    assert sorted(one["sample"] for one in rows) == sorted(IDS)
