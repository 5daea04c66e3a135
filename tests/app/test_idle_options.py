"""An option that would do nothing is refused where it is typed; the environment may hold it for other commands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.app.benchmark_kit import write_mmlu
from tests.catalog.made_up_rows import WRITERS

AT = ("--model", "m", "--base-url", NOWHERE, "--no-probe", "--dry-run")

ROWS = '[[benchmarks]]\ndataset = "rows.jsonl"\nscorer = "{}"\n'
BENCHMARK = '[[benchmarks]]\nname = "{}"\n'


@pytest.fixture
def data(program: Program) -> None:
    """A question of mmlu, which asks no judge, one of hle, which can ask one, and a row of an eval."""
    write_mmlu(program, 1)
    program.rows(1)
    WRITERS["hle"](program.directory / "data" / "hle")


def refused(program: Program, *command: str) -> str:
    ended = program.run(*command)
    assert ended.returncode in (1, 2), ended.stdout
    return ended.stderr.strip().splitlines()[-1]


def suite(program: Program, *parts: str) -> tuple[str, ...]:
    return ("run", "--suite", program.write("s.toml", "\n".join(parts)), *AT)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (
            ["--thinking-style", "vllm"],
            "--thinking-style does nothing without --reasoning-effort or --thinking-b",
        ),
        (["--ray-address", "a:1"], "--ray-address does nothing without --executor ray."),
        (["--metrics-url", "http://a/metrics"], "--metrics-url does nothing without --metrics."),
        (
            ["--keep-images", "none"],
            "--keep-images does nothing here: no benchmark of this command works in con",
        ),
        (["--no-seal"], "--seal/--no-seal does nothing here: no benchmark of this command can be sealed."),
        (["--seed", "1", "--no-seed"], "--seed and --no-seed are mutually exclusive."),
        (["--fresh", "--retry-failed"], "--fresh and --retry-failed are mutually exclusive."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_the_benchmark_cannot_use(program: Program, typed: Sequence[str], words: str) -> None:
    assert words in refused(program, "run", "mmlu", *AT, *typed)


@pytest.mark.usefixtures("data")
def test_a_speed_is_for_the_dry_run(program: Program) -> None:
    assert "--speed does nothing without --dry-run." in refused(
        program, "run", "mmlu", *AT[:-1], "--speed", "9"
    )


def test_an_address_of_no_judge(program: Program) -> None:
    command = ("eval", "-d", program.rows(1), "--scorer", "exact", *AT, "--judge-base-url", NOWHERE)
    assert "--judge-base-url does nothing without --judge-model." in refused(program, *command)


class TestOfSuites:
    @pytest.mark.parametrize(
        ("typed", "words"),
        [
            ("--option=judge_model=x", "as evals have no such option. Write --judge-model x."),
            ("--where=subject=law", "--where does nothing in the suite s, as evals have no such option."),
            ("--judge-model=x", "No part of the suite s asks a judge: --judge-model does nothing in it."),
        ],
    )
    def test_what_no_part_has(self, program: Program, typed: str, words: str) -> None:
        assert words in refused(program, *suite(program, ROWS.format("exact")), typed)

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("speed = 100", "'speed' has no place there: it is for the command line."),
            ("dry_run = true", "'dry_run' has no place there"),
            (
                'judge_labels = "labels.csv"',
                "take them in when it is finished, with `benchwright judge labels",
            ),
        ],
    )
    def test_what_a_file_cannot_hold(self, program: Program, line: str, words: str) -> None:
        assert words in refused(program, *suite(program, f"[defaults]\n{line}", ROWS.format("exact")))

    def test_the_name_of_a_suite_in_place_of_a_benchmark(self, program: Program) -> None:
        assert "quick is a suite: run it with --suite quick." in refused(program, "run", "quick", *AT)

    def test_nothing_that_can_be_run(self, program: Program) -> None:
        told = refused(program, *suite(program, BENCHMARK.format("mmlu"), BENCHMARK.format("hle")))
        assert told == "No requests were sent (--dry-run)."

    def test_two_judges(self, program: Program) -> None:
        two = ("--judge-model=x", "--option=judge_model=y")
        assert "contradict each other: give one" in refused(
            program, *suite(program, BENCHMARK.format("hle")), *two
        )


@pytest.mark.usefixtures("data")
class TestTheJudge:
    """`--judge-model` is for evals and benchmarks alike."""

    def judges(self, program: Program, *command: str, **environment: str) -> dict[str, str | None]:
        """Who judges in each part of a command: {title: model}."""
        ended = program.run(*command, "--json", **environment)
        assert ended.returncode == 0, ended.stderr
        described: Any = json.loads(ended.stdout)["benchmarks"]
        if isinstance(described, list):
            described = {one["benchmark"]: one for one in described}
        return {
            title: next((one["model"] for one in facts["targets"] if one["slot"] == "judge"), None)
            for title, facts in described.items()
        }

    PARTS = (BENCHMARK.format("mmlu"), BENCHMARK.format("hle"), ROWS.format("judge"))

    def test_of_a_suite(self, program: Program) -> None:
        found = self.judges(program, *suite(program, *self.PARTS), "--judge-model", "big")
        assert found == {"mmlu": None, "hle": "big", "rows": "big"}

    def test_of_a_suites_file_below_that_of_a_part_and_of_the_line(self, program: Program) -> None:
        own = 'name = "hle"\noption = { judge_model = "own" }'
        parts = ('[defaults]\njudge_model = "file"', f"[[benchmarks]]\n{own}", ROWS.format("judge"))
        assert self.judges(program, *suite(program, *parts)) == {"hle": "own", "rows": "file"}
        assert self.judges(program, *suite(program, *parts), "--judge-model", "line") == {
            "hle": "line",
            "rows": "line",
        }

    def test_of_benchmarks_named_in_one_command(self, program: Program) -> None:
        found = self.judges(program, "run", "mmlu", "hle", *AT, "--judge-model", "big")
        assert found == {"mmlu": None, "hle": "big"}

    def test_of_the_environment_is_for_whom_it_fits(self, program: Program) -> None:
        environment = {"BENCHWRIGHT_JUDGE_MODEL": "usual"}
        assert self.judges(program, "run", "mmlu", *AT, **environment) == {"mmlu": None}
        assert self.judges(program, "run", "hle", *AT, **environment) == {"hle": "usual"}
        assert self.judges(program, *suite(program, *self.PARTS[:2]), **environment) == {
            "mmlu": None,
            "hle": "usual",
        }

    def test_is_refused_where_nobody_asks_one(self, program: Program) -> None:
        assert "mmlu has no option 'judge_model'" in refused(
            program, "run", "mmlu", *AT, "--judge-model", "x"
        )

    def test_needs_a_model(self, program: Program) -> None:
        command = ("run", "hle", *AT, "--judge-base-url", NOWHERE)
        assert "judge_base_url does nothing without judge_model: name the model" in refused(program, *command)
