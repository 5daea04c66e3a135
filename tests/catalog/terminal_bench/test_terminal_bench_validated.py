"""`validate terminal_bench`: a task whose own solution fails is told with the end of its log, and its run is kept."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.catalog.containers.workshop import WORKSHOP
from tests.catalog.terminal_bench.terminal_kit import write_first, write_harbor
from tests.sandbox.docker.stand_ins import docker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.usefixtures("nothing_left")]

LOUD = """\
#!/bin/bash
for number in $(seq 1 50); do echo "line $number"; done
printf '\\033[31mred\\033[0m \\033]0;title\\007end\\n'
echo 0 > /logs/verifier/reward.txt
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    write_harbor(tmp_path / "tasks", "good")
    write_harbor(tmp_path / "tasks", "loud", test=LOUD)
    yield program
    program.end()


def validated(program: Program, *options: str) -> tuple[int, str]:
    """The exit code, and what was printed."""
    process = program.start("validate", "terminal_bench", "--option", "path=tasks", *options)
    printed, errors = process.communicate(timeout=300)
    assert errors == ""
    return process.returncode, printed


def test_a_solution_that_fails_shows_the_end_of_its_log_and_its_run(program: Program) -> None:
    code, printed = validated(program)
    assert code == 1
    assert "terminal_bench loud/gold: scores 0.0, although it is correct" in printed
    assert "good/gold" not in printed
    lines = re.findall(r"^ {4}(.+)$", printed, re.M)
    assert [line.rstrip() for line in lines] == [f"line {number}" for number in range(32, 51)] + ["red end"]
    assert "\x1b" not in printed
    told = re.search(r"the run is kept: benchwright (show (\S+) --sample loud/gold)$", printed, re.M)
    assert told is not None
    assert told[2] == program.only_run.name
    shown = program.run(*told[1].split())
    assert shown.returncode == 0, shown.stderr
    assert "\ntests: exited with 0" in shown.stdout


def test_the_one_that_passes_is_chosen_by_its_id_and_leaves_no_run(program: Program) -> None:
    code, printed = validated(program, "--where", "id=g*", "--json")
    (entry,) = json.loads(printed)["validated"]
    assert (code, entry["samples"], entry["failures"]) == (0, 1, [])
    assert "run" not in entry
    assert program.runs == []


@pytest.mark.parametrize(("keep", "stay"), [("none", 0), ("base", 1), ("all", 2)])
def test_images_that_were_built_stay_as_asked_and_what_they_are_built_on_in_any_case(
    program: Program, keep: str, stay: int
) -> None:
    mark = secrets.token_hex(4)
    for number in range(2):
        write_first(program.directory / "first", f"kept-{mark}-{number}")
    process = program.start(
        *("validate", "terminal_bench:1.0", "--option", "path=first", "--keep-images", keep, "--json")
    )
    printed, _ = process.communicate(timeout=300)
    listed = docker("images", "--format", "{{.Repository}}:{{.Tag}}").split()
    stayed = [name for name in listed if mark in name]
    for name in stayed:
        docker("rmi", name)
    assert json.loads(printed)["validated"][0]["failures"] == []
    assert len(stayed) == stay
    assert docker("images", "--quiet", WORKSHOP)
