"""Gold answers that a scorer cannot read are told before the first request, or left out and counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.app.app_kit import NOWHERE, Program

from benchwright.runs.manifest import read_manifest


def rows(program: Program, *golds: Any, **more: Any) -> None:
    lines = [json.dumps({"prompt": f"{number}", "answer": gold, **more}) for number, gold in enumerate(golds)]
    program.write("rows.jsonl", "\n".join(lines) + "\n")


def command(url: str, scorer: str, *more: str, dataset: str = "rows.jsonl") -> list[str]:
    return ["eval", "-d", dataset, "--model", "m", "--base-url", url, "--scorer", scorer, *more]


@pytest.mark.parametrize(
    ("scorer", "gold", "says"),
    [
        ("numeric", "2024-05-07", r"the gold answer '2024-05-07' is a date, not one number"),
        ("numeric", "3, 5", r"the gold answer '3, 5' is a list of numbers, not one number"),
        ("numeric", "p - q", r"the gold answer 'p - q' has no number"),
        ("numeric", [4, "p"], r"the gold answer 'p' has no number"),
        ("regex", "(", r"'(' is not a regular expression"),
        ("json", "{", r"the gold answer '{' is not JSON"),
        ("mcq", "Paris", r"ground_truth 'Paris' is none of the letters A to J"),
        ("exact", [], r"a list of right answers must hold texts or numbers"),
    ],
)
def test_a_gold_answer_that_cannot_be_read_is_told_with_its_row(
    scorer: str, gold: Any, says: str, program: Program
) -> None:
    good: Any = {"mcq": "A", "json": "{}"}.get(scorer, "1")
    rows(program, good, gold, good, gold)
    ended = program.run(*command(NOWHERE, scorer))
    assert ended.returncode == 1
    assert f"rows.jsonl, line 2: Row 1: {says}" in ended.stderr
    assert "1 more row is bad, too." in ended.stderr
    assert "--skip-bad-rows" in ended.stderr
    assert program.runs == []


def test_bad_rows_can_be_left_out_and_are_counted(program: Program, echo: str) -> None:
    rows(program, "0", "2024-05-07", "2", "3, 5", "")
    ended = program.run(*command(echo, "numeric", "--skip-bad-rows"))
    assert ended.returncode == 0, ended.stderr
    assert "Left out 3 bad rows (--skip-bad-rows); the first is row 1: the gold answer" in ended.stderr
    (data,) = read_manifest(program.only_run).data
    assert (data.samples, data.left_out) == (2, 3)
    summary = program.summary(*command(echo, "numeric", "--skip-bad-rows"))
    assert [(score.n, score.mean) for score in summary.targets[0].scores] == [(2, 1.0)]


def test_other_processes_leave_out_the_same_rows(program: Program, echo: str) -> None:
    rows(program, "0", "p", "2", "3", "q", "5")
    options = ("--skip-bad-rows", "--workers", "2", "--batch-size", "2")
    summary = program.summary(*command(echo, "numeric", *options))
    assert [(score.n, score.mean) for score in summary.targets[0].scores] == [(4, 1.0)]


def test_a_dry_run_says_how_many(program: Program) -> None:
    rows(program, "0", "p")
    ended = program.run(*command(NOWHERE, "numeric", "--skip-bad-rows", "--dry-run", "--json"))
    facts = json.loads(ended.stdout)
    assert (facts["samples"], facts["left_out_rows"]) == (1, 1)


def test_where_all_rows_are_bad_there_is_nothing_to_do(program: Program) -> None:
    rows(program, "p")
    ended = program.run(*command(NOWHERE, "numeric", "--skip-bad-rows"))
    assert (ended.returncode, "rows.jsonl has no rows" in ended.stderr) == (1, True)


def test_of_a_gold_answer_that_is_a_list_any_is_right(program: Program, echo: str) -> None:
    rows(program, ["zero", "0"], ["1", "one"], "2")
    summary = program.summary(*command(echo, "exact"))
    assert summary.targets[0].scores[0].mean == 1.0


def test_an_eval_function_gets_it_as_json_as_ever(program: Program, echo: str) -> None:
    program.write(
        "rewards.py",
        'def same(solution_str, ground_truth, extra_info=None):\n    return ground_truth == \'["0","zero"]\'\n',
    )
    rows(program, ["0", "zero"])
    summary = program.summary(*command(echo, "exact", "--eval-fn", "rewards:same"))
    assert {score.scorer: score.mean for score in summary.targets[0].scores} == {
        "exact": 1.0,
        "rewards:same": 1.0,
    }


CEVAL = "id,question,A,B,C,D,answer\n0,Capital of Italy?,Paris,Rome,Oslo,Bern,B\n1,One or two?,one,two,,,A\n"


def test_the_columns_a_to_d_are_the_options(program: Program, echo: str) -> None:
    program.write("ceval.csv", CEVAL)
    ended = program.run(*command(echo, "mcq", dataset="ceval.csv"))
    assert ended.returncode == 0, ended.stderr
    assert "no options" not in ended.stderr
    shown = program.run("show", program.only_run.name, "--row", "0").stdout.split()
    assert " ".join(shown).count("A. Paris B. Rome C. Oslo D. Bern") >= 1


@pytest.mark.parametrize(
    ("more", "prompt", "warned"),
    [
        ((), "Which?", True),
        ((), "Which?\nA. x\nB. y", False),
        (("--template", "{prompt}\nA. yes\nB. no"), "Which?", False),
    ],
)
def test_multiple_choice_without_options_is_warned_of(
    more: tuple[str, ...], prompt: str, warned: bool, program: Program, echo: str
) -> None:
    program.write("rows.jsonl", json.dumps({"prompt": prompt, "answer": "A"}) + "\n")
    ended = program.run(*command(echo, "mcq", *more))
    assert ended.returncode == 0, ended.stderr
    assert ("--scorer mcq, but the rows have no options" in ended.stderr) is warned


def test_load_leaves_them_out_as_well(program: Program, echo: str) -> None:
    rows(program, "0", "p", "2")
    load = (
        "load",
        "-d",
        "rows.jsonl",
        "--model",
        "m",
        "--base-url",
        echo,
        "--concurrency",
        "1",
        "--requests",
        "4",
    )
    refused = program.run(*load, "--scorer", "numeric")
    assert "Row 1: the gold answer 'p' has no number" in refused.stderr
    ended = program.run(*load, "--scorer", "numeric", "--skip-bad-rows")
    assert ended.returncode == 0, ended.stderr
    assert "Left out 1 bad row" in ended.stderr
