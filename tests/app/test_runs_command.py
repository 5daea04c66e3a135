"""`runs`: listed, filtered, tagged and deleted, whatever made them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock
from tests.app.app_kit import Program, one_line_of
from tests.app.compare_kit import STARTED, Made, made, write_run
from tests.programs import start_benchwright

from benchwright.records import Status, Target
from benchwright.runs.manifest import DataFile


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
        assert "Delete 1 run(s) permanently?" in out
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
