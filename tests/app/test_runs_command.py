"""`runs`: listed, filtered, tagged and deleted, whatever made them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from click import unstyle
from filelock import FileLock
from tests.app.app_kit import Program, one_line_of
from tests.app.compare_kit import STARTED, Made, made, write_run
from tests.programs import start_benchwright
from tests.terminal import on_a_terminal

from benchwright.analysis import run_list
from benchwright.cli import options
from benchwright.cli import runs as command
from benchwright.records import Status, Target
from benchwright.reports.run_list import LIST_COLUMNS
from benchwright.runs.manifest import DataFile
from benchwright.runs.manifest_facts import RUN_KINDS


@pytest.fixture
def runs(program: Program) -> Path:
    """Three runs: an eval, a benchmark by another model, and an unfinished pack."""
    place = program.home / "runs"
    large = [Target("primary", "org/Large", "http://127.0.0.1:9/v1")]
    write_run(place / "one", made([1]))
    write_run(place / "two", made([1]), kind="benchmark", targets=large, created_at=STARTED + 10**9)
    write_run(place / "three", made([1]), kind="pack", finished=False, created_at=STARTED + 2 * 10**9)
    return place


def listed(program: Program, *options: str) -> list[str]:
    ended = program.run("runs", *options, "--json")
    assert ended.returncode == 0, ended.stderr
    return [run["manifest"]["id"] for run in json.loads(ended.stdout)["runs"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["three", "two", "one"]),
        (["--kind", "eval"], ["one"]),
        (["--kind", "pack"], ["three"]),
        (["--model", "LARGE"], ["two"]),
        (["--state", "unfinished"], ["three"]),
        (["--state", "finished"], ["two", "one"]),
        (["--state", "finished", "--model", "model"], ["one"]),
        (["--tag", "kept"], []),
    ],
)
def test_filters(program: Program, runs: Path, options: list[str], expected: list[str]) -> None:
    assert listed(program, *options) == expected


def test_trials_are_counted_as_everywhere(program: Program) -> None:
    place = program.home / "runs"
    about = {"load": {"level": {"concurrency": 2}}}
    cut_off = [*made([1, 0]), Made("2", failed=Status.CANCELLED)]
    write_run(place / "level", made([1, 0]), about=about, data=[DataFile("prompts", "0" * 32, 300)])
    write_run(place / "stopped", cut_off, finished=False)
    found = json.loads(program.run("runs", "--json").stdout)["runs"]
    assert {run["manifest"]["id"]: (run["done"], run["planned"]) for run in found} == {
        "level": (2, 2),
        "stopped": (2, 3),
    }
    assert "2 of 3" in program.run("runs").stdout


def test_list_is_the_same_command(program: Program, runs: Path) -> None:
    assert program.run("runs", "list").stdout == program.run("runs").stdout
    assert program.run("runs", "show", "one").stdout == program.run("show", "one").stdout


class TestTable:
    """What stands in the columns, at the width of the terminal."""

    def test_a_row_has_the_figures_of_show(self, program: Program, runs: Path) -> None:
        lost = [Made(f"lost-{number}", failed=Status.PROVIDER_ERROR) for number in range(3)]
        write_run(runs / "four", [*made([1.0] * 14 + [0.0] * 6), *lost], created_at=STARTED + 3 * 10**9)
        shown = program.run("show", "four").stdout
        assert "0.700" in shown
        assert "[0.481, 0.855]" in shown
        row = program.run("runs", "--limit", "1").stdout.splitlines()[1]
        assert row.split()[:7] == ["four", "questions", "model", "0.700", "[0.481,", "0.855]", "3"]

    def test_columns_are_chosen(self, program: Program, runs: Path) -> None:
        table = program.run("runs", "--columns", "model,started,kind,tokens", "--limit", "2").stdout
        assert [line.split() for line in table.splitlines()] == [
            ["Model", "Started", "(UTC)", "Kind", "Tokens"],
            ["model", "2027-01-15", "08:00:02", "pack", "15"],
            ["org/Large", "2027-01-15", "08:00:01", "benchmark", "15"],
        ]

    def test_a_column_that_there_is_not_is_told(self, program: Program, runs: Path) -> None:
        ended = program.run("runs", "--columns", "run,modle")
        assert ended.returncode == 1
        assert "There is no column 'modle'. Did you mean 'model'?" in one_line_of(ended.stderr)

    @pytest.mark.parametrize("columns", [80, 120])
    def test_each_model_stands_beside_its_score(self, program: Program, columns: int) -> None:
        models = {"primary": "meta-llama/Llama-3.3-70B-Instruct-of-somebody", "model-2": "small"}
        write_run(
            program.home / "runs" / "20270115T080000-questions-several-00000000",
            [*made([1.0, 1.0]), *made([0.0, 0.0], slot="model-2")],
            targets=[Target(slot, model, "http://127.0.0.1:9/v1") for slot, model in models.items()],
            typed_models=models,
        )
        table = unstyle(on_a_terminal(program, ["runs"], columns=columns).text)
        assert max(map(len, table.splitlines())) <= columns
        (large,) = (line for line in table.splitlines() if "meta-llama/" in line)
        (small,) = (line for line in table.splitlines() if "small" in line)
        assert large.startswith("20270115T080000  questions")
        assert "1.000 [" in large
        assert "0.000 [" in small

    def test_the_part_of_an_id_that_is_shown_is_enough_to_find_the_run(self, program: Program) -> None:
        for name in ("questions-a-11111111", "questions-b-22222222"):
            write_run(program.home / "runs" / f"20270115T080000-{name}", made([1.0]))
        shown = [line.split()[0] for line in program.run("runs").stdout.splitlines()[1:]]
        for short in shown:
            assert program.run("show", short).returncode == 0
        assert sorted(shown) == ["11111111", "22222222"], "both were started in the same second"

    def test_a_journal_that_cannot_be_read_is_told_below(self, program: Program, runs: Path) -> None:
        (runs / "one" / "trials.jsonl").write_text("no record\n")
        ended = program.run("runs")
        assert len(ended.stdout.splitlines()) == 4
        assert ended.stderr.startswith("Warning: ")
        assert "line 1: this is not a journal record" in ended.stderr


class TestNotes:
    NOTE = "The baseline of the paper;\ndo not delete."

    def test_it_is_printed_and_taken_away(self, program: Program, runs: Path) -> None:
        assert program.run("runs", "note", "one").stdout == "no note\n"
        assert program.run("runs", "note", "one", self.NOTE).stdout == f"{self.NOTE}\n"
        assert program.run("runs", "note", "one").stdout == f"{self.NOTE}\n"
        assert program.run("runs", "note", "one", "another").stdout == "another\n"
        assert program.run("runs", "note", "one", "--remove").stdout == "no note\n"
        assert program.run("runs", "note", "one").stdout == "no note\n"

    def test_it_is_shown_at_every_door(self, program: Program, runs: Path) -> None:
        program.run("runs", "note", "one", self.NOTE)
        assert "The baseline of the paper; do not delete." in program.run("runs", "--columns", "note").stdout
        assert f"Note: {self.NOTE}" in program.run("show", "one").stdout
        assert program.summary("show", "one").note == self.NOTE
        assert listed(program, "--text", "PAPER baseline") == ["one"]
        assert program.run("report", "one", "-o", "page.html").returncode == 0
        assert self.NOTE in Path(program.directory / "page.html").read_text(encoding="utf-8")

    def test_one_that_is_too_long_is_told(self, program: Program, runs: Path) -> None:
        ended = program.run("runs", "note", "one", "x" * 4001)
        assert ended.returncode == 1
        assert "4,001 characters; give at most 4,000" in one_line_of(ended.stderr)


class TestNames:
    """`--name`: what a run is called, in place of the label that is made for it."""

    def test_it_is_shown_and_found_and_the_id_stays(self, program: Program, echo: str) -> None:
        command = program.evaluating(program.rows(2), echo, "--name", "Second try")
        assert program.run(*command).returncode == 0
        assert program.only_run.name.partition("-")[2].startswith("rows-m-")
        assert program.run("show", program.only_run.name).stdout.startswith("Second try: finished")
        assert "Second try" in program.run("runs").stdout
        assert (
            listed(program, "--name", "second")
            == listed(program, "--name", "rows")
            == [program.only_run.name]
        )

    def test_a_run_that_is_there_keeps_its_name(self, program: Program, echo: str) -> None:
        command = program.evaluating(program.rows(2), echo)
        program.run(*command, "--name", "First")
        ended = program.run(*command, "--name", "Second")
        assert "is called First; --fresh makes a new one called Second" in ended.stderr
        assert len(program.runs) == 1

    def test_every_level_of_load_has_it(self, program: Program, echo: str) -> None:
        levels = ["load", "--dataset", program.rows(2), "--concurrency", "1,2", "--requests", "4"]
        ended = program.run(*levels, "--model", "m", "--base-url", echo, "--name", "Box 7", "-q")
        assert ended.returncode == 0, ended.stderr
        found = json.loads(program.run("runs", "--kind", "load", "--json").stdout)["runs"]
        assert [(run["name"], run["level"]) for run in found] == [("Box 7", "c2"), ("Box 7", "c1")]
        assert "Box 7 c2" in program.run("runs").stdout

    @pytest.mark.parametrize("name", ["", "two\nlines", "x" * 101])
    def test_what_is_no_line_is_none(self, program: Program, name: str) -> None:
        ended = program.run(*program.evaluating(program.rows(1), "http://127.0.0.1:9/v1"), "--name", name)
        assert ended.returncode == 2
        assert "--name" in ended.stderr
        assert "give one line of up to 100 characters" in ended.stderr


class TestTags:
    def test_they_are_given_found_and_taken_away(self, program: Program, runs: Path) -> None:
        assert program.run("runs", "tag", "one", "kept", "best").stdout == "kept, best\n"
        program.run("runs", "tag", "two", "kept")
        assert listed(program, "--tag", "kept") == ["two", "one"]
        assert listed(program, "--tag", "kept", "--tag", "best") == ["one"]
        assert "kept, best" in program.run("runs").stdout
        assert program.run("runs", "tag", "one", "kept", "--remove").stdout == "best\n"
        assert listed(program, "--tag", "kept") == ["two"]

    @pytest.mark.parametrize("tag", ["", "two words", "\x1b[31m", "x" * 61])
    def test_what_is_no_word_is_none(self, program: Program, runs: Path, tag: str) -> None:
        ended = program.run("runs", "tag", "one", tag)
        assert ended.returncode == 1
        assert "is not a valid tag" in one_line_of(ended.stderr)


class TestDelete:
    def test_it_is_gone_and_the_others_are_not(self, program: Program, runs: Path) -> None:
        ended = program.run("runs", "delete", "one", "--yes")
        assert (ended.returncode, ended.stdout) == (0, "Deleted one.\n")
        assert sorted(path.name for path in runs.iterdir()) == ["three", "two"]

    def test_without_a_terminal_nothing_is_deleted_unasked(self, program: Program, runs: Path) -> None:
        ended = program.run("runs", "delete", "one")
        assert ended.returncode == 1
        assert "use --yes" in one_line_of(ended.stderr)
        assert (runs / "one").exists()

    @pytest.mark.parametrize(("reply", "left"), [(b"n\n", True), (b"\n", True), (b"y\n", False)])
    def test_a_person_is_asked(self, program: Program, runs: Path, reply: bytes, left: bool) -> None:
        ours, theirs = pty.openpty()
        process = start_benchwright(
            ["runs", "delete", "one"], environment=program.environment, stdin=theirs, stdout=subprocess.PIPE
        )
        os.write(ours, reply)
        out, _ = process.communicate(timeout=30)
        os.close(ours)
        os.close(theirs)
        assert process.returncode == 0
        assert "Delete 1 run?" in out
        assert (runs / "one").exists() == left

    def test_a_run_that_is_being_worked_on_stays(self, program: Program, runs: Path) -> None:
        with FileLock(runs / "one" / "lock"):
            ended = program.run("runs", "delete", "one", "--yes")
        assert ended.returncode == 1
        assert "one is still running" in one_line_of(ended.stderr)
        assert (runs / "one" / "run.json").exists()

    def test_a_directory_elsewhere_is_left_to_its_owner(self, program: Program, tmp_path: Path) -> None:
        write_run(tmp_path / "mine", made([1]))
        ended = program.run("runs", "delete", str(tmp_path / "mine"), "--yes")
        assert ended.returncode == 1
        assert "delete that directory yourself" in one_line_of(ended.stderr)

    def test_nothing_is_deleted_where_one_is_not_known(self, program: Program, runs: Path) -> None:
        assert program.run("runs", "delete", "one", "nine", "--yes").returncode == 1
        assert (runs / "one").exists()


def test_the_options_know_all_that_lists_know() -> None:
    """They are written out, so that `--help` need not load what makes lists."""
    assert tuple(run_list.SORT_KEYS) == command.SORT_ORDERS
    assert run_list.RUN_STATES == command.RUN_STATES
    assert tuple(RUN_KINDS) == options.RUN_KINDS
    told = next(option for option in command.print_runs.params if option.name == "columns")
    assert set(LIST_COLUMNS) <= set(
        str(getattr(told, "help", "")).replace(",", " ").replace(":", " ").split()
    )
