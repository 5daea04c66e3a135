"""`compare` on the command line, over runs that were really made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.app.app_kit import Program, scores
from tests.app.benchmark_kit import knowing, write_mmlu
from tests.app.compare_kit import made, write_run
from tests.simulated import simulated_endpoint

SAMPLES = 60


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """MMLU by a model that knows 36 of 60 answers, then by one that knows 54."""
    program = Program(tmp_path_factory.mktemp("compared"))
    path = write_mmlu(program, SAMPLES)
    for name, accuracy in (("small", 0.6), ("large", 0.9)):
        with knowing("mmlu", path, accuracy) as url:
            ended = program.run("--base-url", url, "--model", name, "run", "mmlu", "--output-dir", name)
            assert ended.returncode == 0, ended.stderr
    return program


def files(program: Program) -> tuple[str, str]:
    small, large = (next((program.directory / name).glob("*.json")) for name in ("small", "large"))
    return str(small), str(large)


def run_ids(program: Program) -> tuple[str, str]:
    small, large = (run.name for run in program.runs)
    return small, large


def comparison(program: Program, *arguments: str) -> Any:
    ended = program.run("compare", *arguments, "--json")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_the_answer_stands_beneath_the_documented_table(compared: Program) -> None:
    ended = compared.run("compare", *files(compared))
    assert ended.returncode == 0, ended.stderr
    table, _, answer = ended.stdout.partition("└")
    assert "Benchmark Comparison" in table
    assert "0.6000" in table
    lines = answer.splitlines()[1:]
    assert lines[:2] == ["SIMULATED: some of these answers are not from a model.", ""]
    verdict = lines[2]
    assert verdict.startswith("large is better than small by 30.0 points (95 % ")
    assert verdict.endswith("p < 0.001.")
    assert not [line for line in lines if line.startswith(("│", "┃"))]
    assert ended.stdout.count("SIMULATED") == 1


def test_a_run_is_given_by_its_id_or_by_its_file(compared: Program) -> None:
    by_id, by_file = comparison(compared, *run_ids(compared)), comparison(compared, *files(compared))
    assert [run["source"] for run in by_id["runs"]] == ["journal", "journal"]
    assert by_id["pairs"][0]["scores"] == by_file["pairs"][0]["scores"]


def test_the_samples_that_changed_are_those_whose_answers_did(compared: Program) -> None:
    small, large = (json.loads(Path(file).read_text())["sample_results"] for file in files(compared))
    expected = {
        one["id"]: (one["predicted"], other["predicted"])
        for one, other in zip(small, large, strict=True)
        if one["correct"] != other["correct"]
    }
    (score,) = comparison(compared, *files(compared))["pairs"][0]["scores"]
    told = {change["sample"]: (change["answer_a"], change["answer_b"]) for change in score["changes"]}
    assert told == expected
    assert len(told) == score["wins"] == 18


def test_files_alone_say_the_same_where_the_runs_are_gone(compared: Program, tmp_path: Path) -> None:
    elsewhere = Program(tmp_path)
    there = comparison(elsewhere, *files(compared))["pairs"][0]
    (score,), (known,) = there["scores"], comparison(compared, *files(compared))["pairs"][0]["scores"]
    for field in ("n", "wins", "difference", "p_value", "low", "high"):
        assert score[field] == known[field]
    assert "could not check that both were graded by the same rules" in there["notes"]


class TestDecisions:
    def test_a_rule_that_does_not_hold_exits_3(self, compared: Program) -> None:
        ended = compared.run("compare", *files(compared), "--fail-if", "accuracy < 0.95")
        assert ended.returncode == 3
        assert "FAILED: fail if accuracy < 0.95 — accuracy is 0.9" in ended.stdout

    def test_one_that_holds_exits_0(self, compared: Program) -> None:
        ended = compared.run(
            "compare", *files(compared), "--fail-if", "accuracy < 0.85", "--max-regression", "0"
        )
        assert ended.returncode == 0, ended.stdout
        assert ended.stdout.count("passed: ") == 2

    def test_a_regression_exits_3(self, compared: Program) -> None:
        small, large = files(compared)
        ended = compared.run("compare", large, small, "--max-regression", "0.01", "--confidence", "0.95")
        assert ended.returncode == 3
        assert "small is worse than large by 30.0 points" in ended.stdout

    def test_a_rule_on_a_single_run(self, compared: Program) -> None:
        _, large = run_ids(compared)
        assert compared.run("compare", large, "--fail-if", "accuracy < 0.95").returncode == 3
        assert compared.run("compare", large, "--fail-if", "errors > 0").returncode == 0

    def test_a_metric_that_is_not_there_is_an_error(self, compared: Program) -> None:
        ended = compared.run("compare", *files(compared), "--fail-if", "acuracy < 0.9")
        assert ended.returncode == 1
        assert "Did you mean 'accuracy'?" in ended.stderr
        assert "Traceback" not in ended.stderr

    def test_an_option_that_is_not_there_is_a_usage_error(self, compared: Program) -> None:
        assert compared.run("compare", *files(compared), "--fail-unless", "x > 1").returncode == 2


class TestFilesForMachines:
    def test_junit_markdown_and_the_step_summary(self, compared: Program, tmp_path: Path) -> None:
        summary = tmp_path / "summary.md"
        summary.write_text("before\n")
        ended = compared.run(
            *("compare", *files(compared), "--fail-if", "accuracy < 0.95"),
            *("--junit", str(tmp_path / "new" / "junit.xml"), "--markdown", str(tmp_path / "compare.md")),
            GITHUB_STEP_SUMMARY=str(summary),
        )
        assert ended.returncode == 3
        suite = ElementTree.parse(tmp_path / "new" / "junit.xml").getroot()[0]
        assert suite.get("failures") == "1"
        markdown = (tmp_path / "compare.md").read_text()
        assert markdown.startswith("**large is better than small by 30.0 points")
        assert summary.read_text() == "before\n" + markdown

    def test_a_place_that_cannot_be_written_is_one_line(self, compared: Program) -> None:
        ended = compared.run("compare", *files(compared), "--markdown", "/proc/nowhere/compare.md")
        assert ended.returncode == 1
        assert "Error: Cannot write /proc/nowhere/compare.md" in ended.stderr


class TestRefusals:
    def test_runs_that_are_not_comparable_exit_1_and_say_why(self, tmp_path: Path) -> None:
        program = Program(tmp_path)
        write_run(tmp_path / "a", made([0, 1]))
        write_run(tmp_path / "b", made([0, 1], simulated=True))
        ended = program.run("compare", "a", "b")
        assert ended.returncode == 1
        assert "NOT COMPARED: B was answered by the simulated endpoint" in ended.stdout
        assert program.run("compare", "a", "b", "--anyway").returncode == 0

    def test_result_files_are_put_side_by_side_all_the_same(self, program: Program) -> None:
        for name in ("mmlu", "hle"):
            program.write(f"{name}.json", json.dumps({"benchmark": name, "model": "m", "accuracy": 0.5}))
        ended = program.run("compare", "mmlu.json", "hle.json")
        assert ended.returncode == 0, ended.stderr
        assert "Benchmark Comparison" in ended.stdout
        assert "NOT COMPARED: A is mmlu, B is hle" in ended.stdout
        assert program.run("compare", "mmlu.json", "hle.json", "--max-regression", "0").returncode == 1


def test_an_eval_with_a_baseline_and_what_it_wrote(program: Program) -> None:
    rows = [{"prompt": f"word{n}", "answer": f"word{n}" if n % 3 else "other"} for n in range(30)]
    program.write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    with simulated_endpoint() as url:
        arguments = program.evaluating(
            "rows.jsonl", url, "--baseline-model", "old", "-o", "out.json", "--baseline-base-url", url
        )
        ended = program.run(*arguments)
        assert ended.returncode == 0, ended.stderr
    right = sum(score.value or 0 for score in scores(program.only_run)) / 60
    found = comparison(program, program.only_run.name)
    assert [(run["letter"], run["model"]) for run in found["runs"]] == [("A", "old"), ("B", "m")]
    (score,) = found["pairs"][0]["scores"]
    assert (score["mean_a"], score["mean_b"], score["n"]) == (right, right, 30)
    (cached,) = program.home.glob("cache/eval/*/*/*.json")
    assert comparison(program, str(cached))["pairs"][0]["scores"] == [score]
    (from_file,) = comparison(program, "out.json@baseline", "out.json@primary")["pairs"][0]["scores"]
    assert (from_file["mean_a"], from_file["ties"]) == (right, 30)
