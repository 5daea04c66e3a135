"""`--where id=…` and `--ids FILE`: the same samples in `run`, `load`, `validate` and a dry run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.app.app_kit import NOWHERE, Program, finished, one_line_of, trials
from tests.app.benchmark_kit import knowing, only_result, result_files, write_mmlu

from benchwright.runs.manifest import read_manifest

PATTERN = ("--where", "id=mmlu_1*")
FITTING = ["mmlu_1", "mmlu_10", "mmlu_11"]


@pytest.fixture
def data(program: Program) -> Path:
    """Twelve questions; and the file that names three of them."""
    program.write("ids.txt", "# those of the pattern\n" + "\n".join(FITTING) + "\n")
    return write_mmlu(program, 12)


def running(url: str, *more: str) -> list[str]:
    return ["run", "mmlu", "--base-url", url, "--model", "m", *more]


def ids(result: dict[str, object]) -> list[str]:
    rows = result["sample_results"]
    assert isinstance(rows, list)
    return [row["id"] for row in rows]


@pytest.mark.parametrize("options", [PATTERN, ("--ids", "ids.txt")], ids=["where", "file"])
class TestTheSameSamples:
    def test_in_run(self, program: Program, data: Path, options: tuple[str, ...]) -> None:
        with knowing("mmlu", data) as url:
            ended = program.run(*running(url, *options))
        assert ended.returncode == 0, ended.stderr
        assert ids(only_result(program)) == FITTING

    def test_in_a_dry_run(self, program: Program, data: Path, options: tuple[str, ...]) -> None:
        (described,) = json.loads(program.run(*running(NOWHERE, *options, "--dry-run", "--json")).stdout)[
            "benchmarks"
        ]
        assert (described["samples"], described["trials"]) == (3, 3)
        assert "only some of the samples" in described["departures"]

    def test_in_load(self, program: Program, data: Path, options: tuple[str, ...]) -> None:
        with knowing("mmlu", data) as url:
            ended = program.run(
                *("load", "mmlu", "--model", "m", "--base-url", url, "--concurrency", "2", "--requests", "9"),
                *options,
            )
        assert ended.returncode == 0, ended.stderr
        assert {trial.sample for trial in trials(program.only_run)} == set(FITTING)

    def test_in_validate(self, program: Program, data: Path, options: tuple[str, ...]) -> None:
        ended = program.run("validate", "mmlu", "--json", *options)
        assert ended.returncode == 0, ended.stderr
        (entry,) = json.loads(ended.stdout)["validated"]
        assert entry["samples"] == 3


class TestTheRunThatItBelongsTo:
    def test_a_run_that_stopped_is_resumed_by_the_same_selection(self, program: Program, data: Path) -> None:
        with knowing("mmlu", data) as url:
            stopped = program.run(*running(url, *PATTERN, "--concurrency", "1", "--budget-tokens", "1"))
            assert stopped.returncode == 1
            done = len(finished(program.only_run))
            program.run(*running(url, *PATTERN))
        assert done < len(FITTING)
        assert [trial.sample for trial in finished(program.only_run)] == FITTING
        assert ids(only_result(program)) == FITTING

    def test_another_selection_is_another_run(self, program: Program, data: Path) -> None:
        with knowing("mmlu", data) as url:
            for options in (PATTERN, ("--ids", "ids.txt"), ("--where", "id=mmlu_2")):
                program.run(*running(url, *options))
        fingerprints = {read_manifest(run).fingerprint for run in program.runs}
        assert len(fingerprints) == 3
        assert sorted(len(ids(result)) for result in result_files(program)) == [1, 3, 3]

    def test_the_file_counts_by_what_it_holds_not_by_its_name_or_order(
        self, program: Program, data: Path
    ) -> None:
        program.write("other.txt", "\n".join(reversed(FITTING)))
        with knowing("mmlu", data) as url:
            for file in ("ids.txt", "other.txt"):
                program.run(*running(url, "--ids", file))
        assert len({read_manifest(run).fingerprint for run in program.runs}) == 1


class TestWhatCannotBe:
    def test_unknown_ids_are_told_in_one_line_before_anything_runs(
        self, program: Program, data: Path
    ) -> None:
        program.write("typos.txt", "mmlu_1\nmmlu_l\nmmlu_x\n")
        ended = program.run(*running(NOWHERE, "--ids", "typos.txt"))
        assert ended.returncode == 1
        line = one_line_of(ended.stderr)
        assert "'mmlu_l' (did you mean 'mmlu_" in line
        assert "'mmlu_x'" in line
        assert not program.runs

    def test_load_needs_a_benchmark_for_them(self, program: Program, data: Path) -> None:
        ended = program.run(
            "load", "--synthetic-input", "5", "--model", "m", "--base-url", NOWHERE, "--ids", "ids.txt"
        )
        assert "choose samples of a benchmark" in one_line_of(ended.stderr)

    def test_validate_needs_names_for_them(self, program: Program, data: Path) -> None:
        ended = program.run("validate", *PATTERN)
        assert ended.returncode == 2
        assert "name those" in ended.stderr
