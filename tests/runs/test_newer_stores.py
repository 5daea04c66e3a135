"""What a newer version wrote is refused in one line, which names that version and says what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import NOWHERE, Program, one_line_of
from tests.app.compare_kit import made, write_run
from tests.packs.install.install_kit import pack_files, write_tree
from tests.web.web_kit import viewing

from benchwright.runs.store_format import STORE_FORMAT

NEWER, OLDER = "20260102T000000-newer-00000000", "20260101T000000-older-00000000"

COMMANDS = (
    ("show", NEWER),
    ("show", NEWER, "--json"),
    ("resume", NEWER),
    ("retry", NEWER),
    ("compare", OLDER, NEWER),
    ("report", OLDER, NEWER),
    ("table", NEWER),
    ("export", NEWER, "-o", "rows.jsonl"),
    ("audit", NEWER),
    ("judge", "check", NEWER),
    ("replay", NEWER),
    ("pack", "card", NEWER),
    ("runs", "tag", NEWER, "good"),
    ("runs", "note", NEWER, "A note"),
    ("view", NEWER, "--no-open", "--port", "0"),
)


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """The program over a store with a run of this version, and one of a newer version that has other fields."""
    program = Program(tmp_path)
    for run in (OLDER, NEWER):
        write_run(program.home / "runs" / run, made([1.0, 0.0]))
    change_manifest(
        program, format=STORE_FORMAT + 1, versions={"benchwright": "9.1"}, targets={"of": "another shape"}
    )
    yield program
    program.end()


def change_manifest(program: Program, **changes: Any) -> None:
    """Change fields in the newer run's manifest."""
    path = program.home / "runs" / NEWER / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_refuses_a_run_of_a_newer_version_in_one_line(
    program: Program, command: tuple[str, ...]
) -> None:
    ended = program.run(*command)
    line = one_line_of(ended.stderr)
    assert ended.returncode == 1
    assert all(part in line for part in (NEWER, "Benchwright 9.1", "upgrade Benchwright"))
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("number", [STORE_FORMAT + 1, "2b", None, [3]], ids=str)
def test_a_format_that_is_not_known_is_refused_whatever_it_looks_like(
    program: Program, number: object
) -> None:
    change_manifest(program, format=number, versions="unknown")
    line = one_line_of(program.run("show", NEWER).stderr)
    assert "written by a newer Benchwright" in line
    assert "upgrade Benchwright" in line


def test_lists_have_the_other_runs_and_one_line_about_the_newer_run(program: Program) -> None:
    listed = program.run("runs", "--json")
    assert [run["id"] for run in json.loads(listed.stdout)["runs"]] == [OLDER]
    (warning,) = listed.stderr.splitlines()
    assert "Benchwright 9.1" in warning


def test_the_viewer_lists_the_other_runs_and_says_why_one_is_missing(program: Program) -> None:
    with viewing(program) as viewer:
        page = viewer.get("/").text
        assert OLDER in page
        assert "Benchwright 9.1" in page
        assert viewer.get(f"/runs/{NEWER}").status == 404


def test_a_run_of_a_newer_version_can_be_deleted(program: Program) -> None:
    assert program.run("runs", "delete", NEWER, "--yes").returncode == 0
    assert [run.name for run in program.runs] == [OLDER]


def test_runs_are_written_with_the_number_of_their_format(program: Program) -> None:
    written = json.loads((program.home / "runs" / OLDER / "run.json").read_text())
    assert written["format"] == STORE_FORMAT


def test_a_record_of_a_type_that_only_newer_versions_have_is_told_from_damage(program: Program) -> None:
    journal = program.home / "runs" / OLDER / "trials.jsonl"
    with journal.open("a") as file:
        file.write('{"type":"verdict","key":"1"}\n')
    line = one_line_of(program.run("show", OLDER).stderr)
    assert "its type 'verdict' is of a newer Benchwright" in line
    assert "upgrade Benchwright" in line


def test_an_eval_that_finds_a_cache_file_of_a_newer_version_says_so_and_fresh_leaves_it(
    program: Program,
) -> None:
    evaluating = program.evaluating(program.rows(2), NOWHERE, "--no-probe")
    program.run(*evaluating)
    (entry,) = program.home.glob("cache/eval/*/*/*.json")
    entry.write_text(entry.read_text().replace('"version": 1', '"version": 2'))
    line = one_line_of(program.run(*evaluating).stderr)
    assert "created by a newer version" in line
    assert "(v2)" in line
    assert "--fresh" in line
    assert "newer version" in program.run("cache", "ls").stderr
    assert "newer version" not in program.run(*evaluating, "--fresh").stderr


@pytest.mark.parametrize("number", ["schemaVersion", "protocolVersion"])
def test_a_pack_for_a_newer_host_is_neither_installed_nor_run(program: Program, number: str) -> None:
    pack = write_tree(program.directory / "sample", pack_files(**{number: 2}))
    for command in (("install", f"{pack}"), ("run", f"{pack}", "--model", "m", "--base-url", NOWHERE)):
        line = one_line_of(program.run("pack", *command).stderr)
        assert f"{number}: expected 1, found 2 (made for a newer host" in line
        assert "upgrade it" in line


def test_a_registry_for_newer_hosts_is_refused(program: Program) -> None:
    program.write("registry.json", '{"schemaVersion": 2, "packs": []}')
    line = one_line_of(program.run("pack", "search", "--registry", "registry.json").stderr)
    assert "made for a newer host" in line
    assert "upgrade it" in line
