"""A suite: several benchmarks for several models from one file, a run for each of both, resumed as one."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import NOWHERE, Program, one_line_of, trials
from tests.app.benchmark_kit import result_files, write_mmlu
from tests.app.eval_kit import Server, logging_server
from tests.app.pack_kit import Packs
from tests.terminal import on_a_terminal

from benchwright.runs.manifest import read_manifest

QUESTIONS, ROWS = 8, 6
ALL = 2 * (QUESTIONS + ROWS)
IN_FLIGHT = 2

MODELS = """
models = ["small", "large"]
"""

BENCHMARKS = """
[[benchmarks]]
name = "mmlu"

[[benchmarks]]
dataset = "rows.jsonl"
scorer = "exact"
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with logging_server(tmp_path / "truth.jsonl") as server:
        yield server


@pytest.fixture
def slow_server(tmp_path: Path) -> Iterator[Server]:
    with logging_server(tmp_path / "slow.jsonl", "--first-token", "200") as server:
        yield server


@pytest.fixture
def suite(program: Program, server: Server) -> list[str]:
    """The command of a suite of two models, a benchmark and an eval."""
    return two_by_two(program, server)


@pytest.fixture
def slow_suite(program: Program, slow_server: Server) -> list[str]:
    """The same, at work for long enough to be stopped in each of its runs."""
    return two_by_two(program, slow_server)


def two_by_two(program: Program, server: Server) -> list[str]:
    write_mmlu(program, QUESTIONS)
    program.rows(ROWS)
    defaults = f"[defaults]\nbase_url = '{server.base_url}'\nconcurrency = {IN_FLIGHT}\n"
    return written(program, MODELS + defaults + BENCHMARKS)


def written(program: Program, text: str, name: str = "nightly.toml") -> list[str]:
    return ["run", "--suite", program.write(name, text)]


def told(program: Program, *command: str, code: int = 0) -> dict[str, Any]:
    ended = program.run(*command, "--json")
    assert ended.returncode == code, ended.stderr
    document: dict[str, Any] = json.loads(ended.stdout)
    return document


def outcomes(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(run["name"], run["model"], run["outcome"]) for run in document["runs"]]


def wait_for_trials(program: Program, count: int, process: subprocess.Popen[str]) -> None:
    while sum(len(trials(run)) for run in program.runs if (run / "trials.jsonl").exists()) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


class TestAWholeSuite:
    def test_every_model_goes_through_all_benchmarks(self, program: Program, suite: list[str]) -> None:
        document = told(program, *suite)
        assert document["suite"] == "nightly"
        assert outcomes(document) == [
            ("mmlu", "small", "finished"),
            ("rows", "small", "finished"),
            ("mmlu", "large", "finished"),
            ("rows", "large", "finished"),
        ]
        assert [run["run"] for run in document["runs"]] == [run.name for run in program.runs]

    def test_its_table_has_models_as_rows_and_benchmarks_as_columns(
        self, program: Program, suite: list[str]
    ) -> None:
        table = told(program, *suite)["table"]
        assert [column["name"] for column in table["columns"]] == ["mmlu", "eval rows"]
        for row in table["rows"]:
            assert [cell["n"] for cell in row["cells"]] == [QUESTIONS, ROWS]
            assert row["trials"] == QUESTIONS + ROWS
        assert table == told(program, "table", "--suite", "nightly")

    def test_each_run_has_a_line_and_its_result_file(self, program: Program, suite: list[str]) -> None:
        ended = program.run(*suite)
        assert "[1/4] mmlu, small: 0." in ended.stdout
        assert "[4/4] rows, large: 1.000 [0.610, 1.000], 6 trials" in ended.stdout
        assert "benchwright table --suite nightly" in ended.stderr
        assert {(file["benchmark"], file["model"]) for file in result_files(program)} == {
            ("mmlu", "small"),
            ("mmlu", "large"),
        }

    def test_quiet_it_prints_the_table_alone(self, program: Program, suite: list[str]) -> None:
        told(program, *suite)
        ended = program.run(*suite, "-q")
        assert (ended.stdout.split()[0], ended.stderr) == ("Model", "")

    def test_its_lines_fit_a_narrow_terminal(self, program: Program, suite: list[str]) -> None:
        told(program, *suite)
        shown = on_a_terminal(program, suite, columns=80)
        assert shown.code == 0
        lines = re.sub(r"\x1b\[[\d;]*m", "", shown.text).splitlines()
        assert max(map(len, lines)) <= 80

    def test_a_pack_is_run_as_any_other(self, program: Program, echo: str) -> None:
        pack = Packs(program).pack("mixed")
        models = f'[[models]]\nmodel = "m"\nbase_url = "{echo}"\n'
        command = written(program, f'{models}[[benchmarks]]\nname = "pack:{pack}"\n')
        assert outcomes(told(program, *command)) == [(pack, "m", "finished")]
        assert outcomes(told(program, *command)) == [(pack, "m", "already finished")]


class TestGoingOn:
    def test_finished_it_asks_nothing_and_writes_nothing(
        self, program: Program, server: Server, suite: list[str]
    ) -> None:
        first = told(program, *suite)
        asked, files = server.asked(), len(result_files(program))
        second = told(program, *suite)
        assert {outcome for _, _, outcome in outcomes(second)} == {"already finished"}
        assert second["table"] == first["table"]
        assert (server.asked(), len(result_files(program))) == (asked, files)

    def test_killed_it_asks_for_the_rest_only(
        self, program: Program, slow_server: Server, slow_suite: list[str]
    ) -> None:
        process = program.start(*slow_suite)
        wait_for_trials(program, QUESTIONS + 1, process)
        process.kill()
        process.wait()
        document = told(program, *slow_suite)
        assert [run["outcome"] for run in document["runs"]] == ["already finished", *["finished"] * 3]
        assert sum(len(trials(run)) for run in program.runs) == ALL
        assert slow_server.asked() <= ALL + IN_FLIGHT

    def test_ctrl_c_ends_the_whole_suite_and_says_how_to_go_on(
        self, program: Program, slow_suite: list[str]
    ) -> None:
        process = program.start(*slow_suite)
        wait_for_trials(program, 1, process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Suite nightly, 4 runs: 1 interrupted, 3 not started." in err
        assert err.splitlines()[-1] == "To go on: benchwright run --suite nightly.toml"
        assert "Re-run" not in err

    def test_one_model_more_is_asked_alone(self, program: Program, server: Server, suite: list[str]) -> None:
        told(program, *suite)
        asked = server.asked()
        told(program, *suite, "--model=third")
        assert server.asked() - asked == QUESTIONS + ROWS
        table = told(program, "table", "--suite=nightly.toml")
        assert {row["model"] for row in table["rows"]} == {"small", "large", "third"}

    def test_runs_outside_of_it_are_not_taken_for_its_own(
        self, program: Program, server: Server, suite: list[str]
    ) -> None:
        for model in ("small", "large"):
            endpoint = [f"--model={model}", f"--base-url={server.base_url}"]
            told(program, "eval", "-d", "rows.jsonl", "--scorer=exact", *endpoint)
            told(program, "run", "mmlu", *endpoint)
        asked = server.asked()
        told(program, *suite)
        assert server.asked() - asked == ALL

    def test_other_settings_take_the_place_of_the_earlier_runs(
        self, program: Program, suite: list[str]
    ) -> None:
        told(program, *suite)
        table = told(program, *suite, "--max-samples=4")["table"]
        assert [[cell["n"] for cell in row["cells"]] for row in table["rows"]] == [[4, 4], [4, 4]]
        assert len(program.runs) == 8

    def test_fresh_asks_everything_again(self, program: Program, server: Server, suite: list[str]) -> None:
        told(program, *suite)
        told(program, *suite, "--fresh")
        assert server.asked() == 2 * ALL


class TestTrouble:
    def test_without_benchmarks_there_is_nothing_to_run(self, program: Program) -> None:
        ended = program.run("run", "--model=m")
        assert (ended.returncode, "Missing argument" in ended.stderr) == (2, True)

    def test_one_broken_benchmark_does_not_stop_the_others(
        self, program: Program, server: Server, suite: list[str]
    ) -> None:
        text = (program.directory / "nightly.toml").read_text()
        program.write("nightly.toml", f'{text}\n[[benchmarks]]\nname = "humaneval"\n')
        document = told(program, *suite, code=1)
        assert [outcome for _, _, outcome in outcomes(document)] == ["finished", "finished", "failed"] * 2
        assert "benchwright fetch humaneval" in document["runs"][2]["problem"]
        assert len(document["table"]["columns"]) == 2
        assert server.asked() == ALL

    def test_a_model_that_is_down_fails_alone(self, program: Program, server: Server) -> None:
        program.rows(ROWS)
        models = f'[[models]]\nmodel = "down"\nbase_url = "{NOWHERE}"\n'
        models += f'[[models]]\nmodel = "up"\nbase_url = "{server.base_url}"\n'
        eval_entry = BENCHMARKS.partition("\n\n")[2]
        command = written(program, models + eval_entry)
        document = told(program, *command, code=1)
        assert outcomes(document) == [("rows", "down", "failed"), ("rows", "up", "finished")]

    def test_a_dry_run_asks_nothing_and_counts_the_trials(
        self, program: Program, server: Server, suite: list[str]
    ) -> None:
        told = program.run(*suite, "--dry-run").stdout.splitlines()
        assert told[0] == "nightly: 2 parts, for small, large"
        trials = {row[0]: row[1] for line in told if len(row := line.split()) > 3}
        assert (trials["mmlu"], trials["rows"]) == (str(2 * QUESTIONS), str(2 * ROWS))
        assert (server.asked(), program.runs) == (0, [])

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("[[benchmark]]\nname = 'mmlu'", "unknown key 'benchmark'. Did you mean 'benchmarks'?"),
            ("models = ['m']", "names no benchmarks: write a table [[benchmarks]]"),
            ("[[benchmarks]]\nname = 'mmlu'", "names no models: use --model"),
            ("models = ['m']\n[[benchmarks]]\nnme = 'mmlu'", "Did you mean 'name'?"),
            (
                "models = ['m']\n[[benchmarks]]\nname = 'mmlu'\nlimt = 3",
                "nightly.toml, mmlu: unknown option 'limt'. Did you mean 'limit'?",
            ),
            (
                "models = ['m']\n[defaults]\nconcurency = 3\n[[benchmarks]]\nname = 'mmlu'",
                "[defaults]: unknown option 'concurency'. Did you mean 'concurrency'?",
            ),
            ("models = ['m']\n[[benchmarks]]\nname = 'mmlu'\nn = 'x'", "mmlu: Invalid value for '--n'"),
            ("[[models]]\nmodel = 'm'\nsed = 1\n[[benchmarks]]\nname = 'mmlu'", "Did you mean 'seed'?"),
            ("models = ['m']\n[defaults]\nmodel = 'm'\n[[benchmarks]]\nname = 'mmlu'", "stand in [[models]]"),
            (
                "models = ['m']\n[[benchmarks]]\nname = 'mmlu'\n[[benchmarks]]\nname = 'mmlu'",
                "mmlu appears twice",
            ),
            (
                "models = ['m']\n[defaults]\nname = 'x'\n[[benchmarks]]\nname = 'mmlu'",
                "no place in [defaults]",
            ),
            ("models = ['m']\n[[benchmarks]]\nname = 'mmul'", "Did you mean 'mmlu'?"),
            (
                "models = ['m']\n[[benchmarks]]\ndataset = 'd'\nscorer = 'exact'\nbaseline_model = 'b'",
                "put it among the models",
            ),
            ('name = "two\\nlines"\nmodels = ["m"]\n[[benchmarks]]\nname = "mmlu"', "name: give one line"),
        ],
    )
    def test_what_is_wrong_is_one_line(self, program: Program, text: str, words: str) -> None:
        ended = program.run(*written(program, text))
        assert ended.returncode == 1
        assert words in one_line_of(ended.stderr)

    @pytest.mark.parametrize("typed", ["mmlu_pro", "--name=x", "--config=nightly.toml"])
    def test_what_belongs_into_the_file_is_not_typed(
        self, program: Program, suite: list[str], typed: str
    ) -> None:
        program.write("nightly.toml", "retries = 1")
        ended = program.run(*suite, typed)
        assert (ended.returncode, "into a file of your own" in ended.stderr) == (2, True)


class TestWhereItIsKnown:
    def test_runs_know_their_suite_and_are_listed_by_it(self, program: Program, suite: list[str]) -> None:
        told(program, *suite)
        told(program, *suite[:2], program.write("other.toml", 'name = "other one"\n' + suite_text(program)))
        for wanted in ("nightly", "nightly.toml"):
            listed = told(program, "runs", "list", "--suite", wanted)["runs"]
            assert {row["manifest"]["settings"]["suite"] for row in listed} == {"nightly"}
            assert len(listed) == 4
        assert len(program.runs) == 8
        assert "other one" in program.run("runs", "--columns=run,suite").stdout

    def test_a_misspelt_one_is_suggested(self, program: Program, suite: list[str]) -> None:
        told(program, *suite)
        for command in ("table", "runs", "view"):
            ended = program.run(command, "--suite", "nightyl")
            assert ended.returncode == 1
            assert "Did you mean 'nightly'?" in one_line_of(ended.stderr)

    def test_a_run_of_it_is_resumed_by_its_id_and_stays_in_it(
        self, program: Program, slow_suite: list[str]
    ) -> None:
        process = program.start(*slow_suite)
        wait_for_trials(program, 1, process)
        process.kill()
        process.wait()
        run = program.only_run
        told(program, "resume", run.name)
        assert read_manifest(run).settings["suite"] == "nightly"
        assert told(program, *slow_suite)["runs"][0]["outcome"] == "already finished"


def suite_text(program: Program) -> str:
    return (program.directory / "nightly.toml").read_text()
