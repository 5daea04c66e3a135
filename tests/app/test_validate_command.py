"""`validate`: gold answers score 1 and wrong ones do not, or the command says which."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.catalog.catalog_kit import write_rows
from tests.catalog.made_up_rows import COUNT, write_all
from tests.catalog.tau2_bench.tau2_kit import cancelling, write_bank

from benchwright.catalog.registry import BENCHMARKS, find_about

MMLU_CHECKS = 6
"""Of one question: the right letter, three wrong ones, no letter, nothing at all."""


@pytest.fixture
def data(program: Program, tmp_path: Path) -> Path:
    """The data directory; no data of whoever runs the tests is found beside it."""
    program.environment["HF_HUB_CACHE"] = str(tmp_path / "hub cache")
    program.environment["HF_HUB_OFFLINE"] = "1"
    return program.directory / "data"


def table(printed: str) -> dict[str, tuple[list[int], str]]:
    """Samples, checks, failed and exceptions of each benchmark, and the verdict."""
    rows = re.findall(r"^([\w:]+) +([\d,]+) +([\d,]+) +(\d+) +(\d+) +(\w+) *$", printed, re.M)
    return {
        name: ([int(number.replace(",", "")) for number in numbers], verdict)
        for name, *numbers, verdict in rows
    }


def humaneval_row(**changed: str) -> dict[str, str]:
    return {
        "task_id": "HumanEval/7",
        "entry_point": "double",
        "prompt": 'def double(x):\n    """Twice x."""\n',
        "canonical_solution": "    return 2 * x\n",
        "test": "def check(candidate):\n    assert candidate(2) == 4\n",
        **changed,
    }


class TestGraders:
    def test_a_benchmark_that_needs_a_further_model_only_needs_its_name(
        self, program: Program, data: Path
    ) -> None:
        write_bank(data / "tau2_bench", cancelling("task_001"), {"cards": "fee"})
        named = ["--option", "domain=banking_knowledge", "--option", "embedding_model=m"]
        printed = program.run("validate", "tau2_bench", *named).stdout
        assert table(printed) == {"tau2_bench": ([1, 4, 0, 0], "ok")}

    def test_right_ones_are_ok(self, program: Program, data: Path) -> None:
        write_all(data, ["mmlu", "ifeval"])
        ended = program.run("validate", "mmlu", "ifeval")
        assert ended.returncode == 0, ended.stderr
        shown = table(ended.stdout)
        assert list(shown) == ["mmlu", "ifeval"]
        assert shown["mmlu"] == ([COUNT, COUNT * MMLU_CHECKS, 0, 0], "ok")
        assert shown["ifeval"][1] == "ok"

    def test_a_gold_answer_that_fails_is_named_with_its_score(self, program: Program, data: Path) -> None:
        row = humaneval_row(canonical_solution="    return 3 * x\n")
        write_rows(data / "humaneval" / "test.jsonl", [row])
        ended = program.run("validate", "humaneval")
        assert ended.returncode == 1
        ((_, _, failed, _), verdict) = table(ended.stdout)["humaneval"]
        assert verdict == "failed"
        assert failed >= 1
        assert "HumanEval/7/gold: scores 0.0, although it is correct" in ended.stdout

    def test_a_wrong_answer_that_passes_is_named(self, program: Program, data: Path) -> None:
        row = humaneval_row(test="def check(candidate):\n    candidate(2)\n")
        write_rows(data / "humaneval" / "test.jsonl", [row])
        ended = program.run("validate", "humaneval")
        assert ended.returncode == 1
        assert "HumanEval/7/does nothing: scores 1, although it is wrong" in ended.stdout
        assert "/gold" not in ended.stdout

    def test_a_known_exception_is_listed_with_its_reason_and_fails_nothing(
        self, program: Program, data: Path
    ) -> None:
        row = {"prompt": "The graph has no edges.", "answer_nodes": [], "problem_type": "bfs"}
        write_rows(data / "graphwalks" / "train.jsonl", [row])
        ended = program.run("validate", "graphwalks")
        assert ended.returncode == 0, ended.stderr
        ((_, _, failed, exceptions), verdict) = table(ended.stdout)["graphwalks"]
        assert (failed, verdict) == (0, "ok")
        assert exceptions == ended.stdout.count(": exception, no node is right here") == 4

    def test_json_is_one_object(self, program: Program, data: Path) -> None:
        row = humaneval_row(canonical_solution="    return 3 * x\n")
        write_rows(data / "humaneval" / "test.jsonl", [row])
        ended = program.run("validate", "humaneval", "--json")
        assert ended.returncode == 1
        (entry,) = json.loads(ended.stdout)["validated"]
        assert (entry["name"], entry["samples"]) == ("humaneval", 1)
        said = {failure["check"]: failure["said"] for failure in entry["failures"]}
        assert "although it is correct" in said["HumanEval/7/gold"]


class TestTheRunThatIsKept:
    @pytest.fixture
    def kept(self, program: Program, data: Path) -> str:
        """The id of the run of a gold answer that fails."""
        row = humaneval_row(canonical_solution="    return 3 * x\n")
        write_rows(data / "humaneval" / "test.jsonl", [row])
        (entry,) = json.loads(program.run("validate", "humaneval", "--json").stdout)["validated"]
        run: str = entry["run"]
        return run

    def test_it_is_listed_as_a_validation_and_shows_the_conversation(
        self, program: Program, kept: str
    ) -> None:
        listed = json.loads(program.run("runs", "--kind", "validation", "--json").stdout)["runs"]
        assert [run["id"] for run in listed] == [kept]
        shown = program.run("show", kept, "--sample", "HumanEval/7/gold")
        assert "return 3 * x" in shown.stdout

    def test_it_is_no_result_of_a_model(self, program: Program, kept: str) -> None:
        assert "There are no runs yet." in program.run("table").stderr

    def test_it_is_not_resumed_and_deleted_like_others(self, program: Program, kept: str) -> None:
        assert "validate again" in one_line_of(program.run("retry", kept).stderr)
        program.run("runs", "delete", kept, "-y")
        assert program.runs == []

    def test_without_a_failure_there_is_none(self, program: Program, data: Path) -> None:
        write_all(data, ["mmlu"])
        program.run("validate", "mmlu")
        assert program.runs == []


class TestWhatIsValidated:
    def test_without_names_all_whose_data_is_here_and_the_rest_is_listed(
        self, program: Program, data: Path
    ) -> None:
        write_all(data, ["mmlu", "mrcr"])
        ended = program.run("validate", "--json")
        assert ended.returncode == 0, ended.stderr
        outcome: dict[str, Any] = json.loads(ended.stdout)
        names = {entry["name"] for entry in outcome["validated"]}
        assert names == {"mmlu", "mmlu:5shot", "mmlu:documented", "mrcr", "mrcr:documented"}
        left_out = {name.partition(":")[0] for name in outcome["left_out"]}
        assert left_out == set(BENCHMARKS) - {"mmlu", "mrcr"}
        for name, why in outcome["left_out"].items():
            nowhere_to_fetch = find_about(name).dataset.origin is None
            assert f"benchwright fetch {name.partition(':')[0]}" in why or nowhere_to_fetch

    def test_what_was_left_out_is_told_below_the_table(self, program: Program, data: Path) -> None:
        write_all(data, ["mmlu"])
        printed = program.run("validate").stdout
        assert re.search(r"^hle: left out\. No data for hle", printed, re.M)

    def test_max_samples_takes_the_first_ones(self, program: Program, data: Path) -> None:
        write_all(data, ["mmlu"])
        ended = program.run("validate", "mmlu", "--max-samples", "2")
        assert table(ended.stdout)["mmlu"] == ([2, 2 * MMLU_CHECKS, 0, 0], "ok")

    def test_a_path_of_ones_own_is_taken(self, program: Program, data: Path) -> None:
        write_all(program.directory / "elsewhere", ["mmlu"])
        ended = program.run("validate", "mmlu", "--option", "path=elsewhere/mmlu")
        assert table(ended.stdout)["mmlu"][0][0] == COUNT


class TestWhatCannotBe:
    def test_a_named_one_without_data_is_an_error_that_says_what_to_fetch(
        self, program: Program, data: Path
    ) -> None:
        ended = program.run("validate", "ifeval")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert "benchwright fetch ifeval" in one_line_of(ended.stderr)

    def test_an_unknown_name_is_told_with_the_nearest(self, program: Program, data: Path) -> None:
        ended = program.run("validate", "mlmu")
        assert ended.returncode == 1
        assert "Did you mean 'mmlu'?" in one_line_of(ended.stderr)

    def test_a_bad_row_is_told_with_its_number_and_field(self, program: Program, data: Path) -> None:
        rows = [humaneval_row(), {"task_id": "HumanEval/8", "prompt": "def half(x):\n"}]
        write_rows(data / "humaneval" / "test.jsonl", rows)
        ended = program.run("validate", "humaneval")
        assert ended.returncode == 1
        line = one_line_of(ended.stderr)
        assert "test.jsonl" in line
        assert "Row 1" in line


def test_exploits_are_tried_on_benchmarks_with_a_seal_only(program: Program, data: Path) -> None:
    write_all(data, ["mmlu"])
    ended = program.run("validate", "mmlu", "--exploits")
    assert ended.returncode == 1
    assert "mmlu has no seal that exploits could be tried on." in ended.stderr
    ended = program.run("validate", "--exploits")
    assert ended.returncode == 2
    assert "--exploits needs the names of benchmarks" in ended.stderr
