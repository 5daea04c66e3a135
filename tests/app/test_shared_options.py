"""`--option` for several benchmarks: each takes those that it has, and one that nobody has is an error."""

from __future__ import annotations

import json

import pytest
from tests.app.app_kit import Program
from tests.app.benchmark_kit import write_mmlu

from benchwright.catalog.multichallenge.grading import OFFICIAL_JUDGE

SHARED = ("--option", "system_message=no", "--option", "judge_model=someone")


@pytest.fixture
def data(program: Program) -> None:
    """One question of mmlu, which has a system message, and one of multichallenge, which has a judge."""
    write_mmlu(program, 1)
    row = {
        "question_id": "q1",
        "axis": "A",
        "conversation": [{"role": "user", "content": "Hello"}],
        "target_question": "Is it polite?",
        "pass_criteria": "YES",
    }
    directory = program.directory / "data" / "multichallenge"
    directory.mkdir(parents=True)
    (directory / "benchmark_questions.jsonl").write_text(json.dumps(row))


def departures(program: Program, *command: str) -> list[list[str]]:
    """In what each benchmark of a command differs from its protocol, which says what options it took."""
    ended = program.run(*command, "--base-url", "http://127.0.0.1:9/v1", "--dry-run", "--json")
    assert ended.returncode == 0, ended.stderr
    benchmarks = json.loads(ended.stdout)["benchmarks"]
    described = benchmarks if isinstance(benchmarks, list) else benchmarks.values()
    return [[one for one in each["departures"] if one in SHOWN] for each in described]


SHOWN = ["no system message", f"judged by someone; published figures use {OFFICIAL_JUDGE}"]
TAKEN = [[one] for one in SHOWN]


@pytest.mark.usefixtures("data")
def test_each_of_several_benchmarks_takes_those_that_it_has(program: Program) -> None:
    assert departures(program, "run", "mmlu", "multichallenge", "--model", "m", *SHARED) == TAKEN


@pytest.mark.usefixtures("data")
def test_so_does_each_of_a_suite_over_what_its_file_says(program: Program) -> None:
    path = program.write(
        "s.toml",
        'models = ["m"]\n[defaults]\noption = { judge_model = "a" }\n'
        '[[benchmarks]]\nname = "mmlu"\noption = { system_message = "yes" }\n'
        '[[benchmarks]]\nname = "multichallenge"\n',
    )
    assert departures(program, "run", "--suite", path, *SHARED) == TAKEN


TWO = '[[benchmarks]]\nname = "mmlu"\n{}\n[[benchmarks]]\nname = "hle"\n'


@pytest.mark.parametrize(
    ("suite", "typed", "words"),
    [
        ("", ["mmlu", "hle", "--option=system_massage=no"], "Did you mean 'system_message'?"),
        (TWO.format(""), ["--option=domain=x"], "has an option 'domain'. They have: judge_api_key_env, "),
        (f'[defaults]\noption = {{ judge_modl = "x" }}\n{TWO.format("")}', [], "Did you mean 'judge_model'?"),
        (TWO.format('option = { judge_model = "x" }'), ["--dry-run"], "mmlu has no option 'judge_model'"),
    ],
    ids=["several names", "a suite", "its defaults", "one benchmark's own"],
)
def test_one_that_nobody_has_is_an_error(program: Program, suite: str, typed: list[str], words: str) -> None:
    command = ["--suite", program.write("s.toml", suite)] if suite else []
    ended = program.run("run", "--model", "m", *command, *typed)
    assert ended.returncode == 1
    assert words in ended.stderr
