"""Documented files tell an answer in which nothing was found, and a scorer that failed, from a wrong answer."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.failing_endpoint import endpoint

SCORERS = """
def moody(answer: str) -> float:
    if "no" in answer:
        raise RuntimeError("out of paper")
    return 1.0
"""

ROWS = [("ask me later", "4"), ("5", "4"), ("4", "4"), ("no, 4", "4")]
"""Prompts, which are the answers, and targets: nothing to find, wrong, right, and right for one scorer only."""


@pytest.fixture
def command(program: Program) -> list[str]:
    program.write("mine.py", SCORERS)
    lines = (json.dumps({"prompt": prompt, "answer": target}) for prompt, target in ROWS)
    program.write("rows.jsonl", "\n".join(lines))
    options = ["--scorer", "numeric", "--scorer", "mine:moody", "--no-stream", "-o", "out.json"]
    return ["eval", "-d", "rows.jsonl", *options, "--model", "m"]


def run(program: Program, command: list[str]) -> dict[str, Any]:
    with endpoint() as url:
        ended = program.run(*command, "--base-url", url)
    assert ended.returncode == 0, ended.stderr
    document: dict[str, Any] = json.loads((program.directory / "out.json").read_text())
    return document


def told(document: dict[str, Any]) -> list[tuple[dict[str, float], dict[str, str] | None]]:
    return [(row["runs"][0]["scores"], row["runs"][0].get("unscored")) for row in document["rows"]]


EXPECTED = [
    ({"numeric": 0.0, "moody": 1.0}, {"numeric": "unparsed"}),
    ({"numeric": 0.0, "moody": 1.0}, None),
    ({"numeric": 1.0, "moody": 1.0}, None),
    ({"numeric": 1.0, "moody": 0.0}, {"moody": "grader_error"}),
]


def test_an_output_file_says_why_a_score_is_0_for_want_of_one(program: Program, command: list[str]) -> None:
    assert told(run(program, command)) == EXPECTED


def test_compare_reads_no_answers_and_failures_in_it(program: Program, command: list[str]) -> None:
    run(program, command)
    shutil.rmtree(program.home)
    found = json.loads(program.run("compare", "out.json", "out.json", "--json").stdout)
    (score, other) = found["pairs"][0]["scores"]
    assert [score.get(name, 0) for name in ("errors_a", "no_answer_a")] == [0, 1]
    assert [other.get(name, 0) for name in ("errors_a", "no_answer_a")] == [1, 0]
    assert other["mean_a"] == 1.0, "a failed scorer is no wrong answer"


def test_a_run_made_again_from_its_cache_file_tells_them_apart_as_before(
    program: Program, command: list[str]
) -> None:
    run(program, command)

    def scores() -> list[tuple[Any, ...]]:
        shown = json.loads(program.run("show", program.only_run.name, "--json").stdout)
        names = ("scorer", "n", "n_scored", "unparsed", "no_answer", "grader_errors", "mean", "mean_scored")
        return [tuple(score.get(name) for name in names) for score in shown["targets"][0]["scores"]]

    before = scores()
    shutil.rmtree(program.home / "runs")
    assert told(run(program, command)) == EXPECTED
    assert scores() == before
    assert [score[3:6] for score in before] == [(1, 1, 0), (0, None, 1)]


def test_an_output_file_of_a_version_that_did_not_say_is_read_as_before(program: Program) -> None:
    config = {"model": "m", "n_runs": 1, "eval_fns": ["exact"]}
    runs = [{"run_index": 0, "success": True, "scores": {"exact": 0.0}, "tokens": 1, "duration_ms": 1.0}]
    rows = [{"row_index": row, "runs": runs} for row in range(3)]
    program.write("old.json", json.dumps({"config": config, "summary": {}, "rows": rows}))
    found = json.loads(program.run("compare", "old.json", "old.json", "--json").stdout)
    assert found["pairs"][0]["scores"][0]["mean_a"] == 0.0
