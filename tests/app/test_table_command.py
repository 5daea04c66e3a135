"""`table` on the command line: what it shows is what `show` and `load` tell of the same runs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import made, write_run
from tests.app.load.load_kit import key, measure, rate
from tests.simulated import simulated_endpoint
from tests.terminal import on_a_terminal

from benchwright.analysis.leaderboard.records import Leaderboard
from benchwright.records import Target
from benchwright.runs.manifest import DataFile, Manifest, read_manifest
from benchwright.runs.run_selection import select_runs

MODELS = {"small": 8, "large": 19}
TASKS = ("sums", "words")


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Two models on two datasets of twenty questions; the runs of `sums` are tagged."""
    program = Program(tmp_path_factory.mktemp("boards"))
    for model, right in MODELS.items():
        for task in TASKS:
            values = [float(n < right) for n in range(20)]
            run = write_run(
                program.home / "runs" / f"20260101T000000-{task}-{model}",
                made(values),
                name=f"{task}-{model}",
                targets=[Target("primary", model, "http://127.0.0.1:9/v1")],
                data=[DataFile(f"{task}.jsonl", f"{len(task):032}", 20)],
            )
            if task == "sums":
                (run / "tags.json").write_text('["release"]')
    return program


def ran(program: Program, *arguments: str) -> str:
    ended = program.run("table", *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def board_of(program: Program, *arguments: str) -> Leaderboard:
    return msgspec.json.decode(ran(program, *arguments, "--json"), type=Leaderboard)


def test_without_a_choice_all_runs_are_shown_models_by_tasks(boards: Program) -> None:
    assert ran(boards).splitlines()[:3] == [
        "Model                eval sums               eval words",
        "large  1* 0.950 [0.764, 0.991]  1* 0.950 [0.764, 0.991]",
        "small  2  0.400 [0.219, 0.613]  2  0.400 [0.219, 0.613]",
    ]


def test_its_figures_are_those_of_show(boards: Program) -> None:
    for row in board_of(boards).rows:
        for cell in row.cells:
            assert cell is not None
            target = json.loads(boards.run("show", cell.run, "--json").stdout)["targets"][0]
            (score,) = target["scores"]
            assert (cell.mean, cell.low, cell.high) == (score["mean_scored"], score["low"], score["high"])


@pytest.mark.parametrize(
    ("chosen", "columns"),
    [
        (["--tag", "release"], ["eval sums"]),
        (["--name", "SUMS"], ["eval sums"]),
        (["--model", "LARGE"], ["eval sums", "eval words"]),
        (["--limit", "4"], ["eval sums", "eval words"]),
        (["sums-small", "words-large@primary"], ["eval sums", "eval words"]),
    ],
)
def test_runs_are_chosen_by_tag_name_and_model(
    boards: Program, chosen: Sequence[str], columns: Sequence[str]
) -> None:
    assert [column.name for column in board_of(boards, *chosen).columns] == columns


def test_any_predicate_on_manifests_can_choose(boards: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(boards.home))

    def of_words(manifest: Manifest, tags: Sequence[str]) -> bool:
        return manifest.data[0].path == "words.jsonl" and not tags

    assert [read_manifest(path).name for path in select_runs(of_words)] == ["words-small", "words-large"]


def test_nothing_that_fits_is_said(boards: Program) -> None:
    ended = boards.run("table", "--tag", "none-such")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "No runs match.\n")


def test_rows_are_sorted_as_asked(boards: Program) -> None:
    assert [row.model for row in board_of(boards, "--sort", "model").rows] == ["large", "small"]
    ended = boards.run("table", "--sort", "modl")
    assert (ended.returncode, "Did you mean 'model'?" in ended.stderr) == (1, True)


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("b.md", "| Model |"),
        ("b.tex", "% Needs"),
        ("b.csv", "model,detail"),
        ("b.json", "{"),
        ("b.html", "<!doctype html>"),
        ("b.txt", "Model "),
    ],
)
def test_the_suffix_of_the_file_says_the_format(boards: Program, name: str, begins: str) -> None:
    assert ran(boards, "-o", name) == ""
    assert (boards.directory / name).read_text().lstrip().startswith(begins)


def test_a_page_replaces_only_a_page_of_ours(boards: Program) -> None:
    other = boards.directory / "mine.html"
    other.write_text("<p>my own</p>")
    ended = boards.run("table", "-o", "mine.html")
    assert (ended.returncode, other.read_text()) == (1, "<p>my own</p>")


def test_a_price_gives_the_cost(boards: Program) -> None:
    board = board_of(boards, "--price", "small=1,10")
    costs = {row.model: row.cost for row in board.rows}
    assert costs == {"small": pytest.approx((400 * 1 + 200 * 10) / 1e6), "large": None}
    ended = boards.run("table", "--price", "small")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)


def test_on_a_terminal_of_80_columns_it_fits(boards: Program) -> None:
    shown = on_a_terminal(boards, ["table"], columns=80)
    lines = re.sub(r"\x1b\[[\d;]*m", "", shown.text).splitlines()
    assert shown.code == 0
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("cuts", [[], ["--warmup", "4", "--cooldown", "2"]], ids=["default", "own cuts"])
def test_load_curves_have_the_figures_of_load(tmp_path: Path, cuts: Sequence[str]) -> None:
    program = Program(tmp_path)
    rows = program.rows(10)
    wanted: list[Any] = ["--dataset", rows, "--scorer", "exact", "--concurrency", "1,4", "--requests", "20"]
    with simulated_endpoint("--first-token", "5", answers=key(10)) as url:
        report = measure(program, url, *wanted, *cuts)
    board = board_of(program, "--tag", report.id)
    (curve,) = board.load_curves
    assert [(point.achieved, point.latency, point.ttft) for point in curve.points] == [
        (rate(level), level.latency, level.ttft) for level in report.levels
    ]
    assert {row.detail for row in board.rows} == {"concurrency 1", "concurrency 4"}
