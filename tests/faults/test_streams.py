"""Streams that are closed, full, or that nobody reads any more: a command ends quietly, with a code that says how."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.app.compare_kit import made, write_run
from tests.simulated import simulated_endpoint

DONE, FAILED, USAGE = 0, 1, 2
WRONG_WITH_A_PROCESS = ("Traceback", "Exception ignored", "Assertion", "Aborted")


def in_a_shell(program: Program, script: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of bash in which `bw` is the program."""
    for number in range(2):
        write_run(program.home / "runs" / f"run-{number}", made([1, 0, 1]))
    python = f"bw() {{ '{sys.executable}' -m benchwright \"$@\"; }}; set -o pipefail; {script}"
    ended = subprocess.run(
        ["bash", "-c", python], cwd=program.directory, env=program.environment, capture_output=True, text=True
    )
    assert not any(word in ended.stderr for word in WRONG_WITH_A_PROCESS), ended.stderr
    return ended


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("runs", DONE),
        ("show run-0", DONE),
        ("show run-0 --json", DONE),
        ("show nothing", FAILED),
        ("shwo", USAGE),
        ("--help", DONE),
    ],
)
def test_a_closed_stream_changes_nothing_but_what_is_read_and_written(
    program: Program, command: str, code: int, closed: str
) -> None:
    assert in_a_shell(program, f"bw {command} {closed}").returncode == code


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_run_goes_on_with_closed_streams(program: Program, closed: str) -> None:
    with simulated_endpoint() as echo:
        command = " ".join(program.evaluating(program.rows(3), echo))
        assert in_a_shell(program, f"bw {command} {closed}").returncode == DONE
    (run,) = [run for run in program.runs if run.name.startswith("20")]
    assert len((run / "trials.jsonl").read_text().splitlines()) > 3


def test_what_needs_an_answer_says_so_where_nobody_can_give_one(program: Program) -> None:
    ended = in_a_shell(program, "bw runs delete run-0 <&-")
    assert ended.returncode == FAILED
    assert "use --yes" in ended.stderr
    assert Path(program.home / "runs" / "run-0").exists()


@pytest.mark.parametrize("command", ["runs", "list --json", "show run-0", "compare run-0 run-1"])
def test_a_reader_that_leaves_early_hears_nothing(program: Program, command: str) -> None:
    ended = in_a_shell(program, f"bw {command} | true; exit ${{PIPESTATUS[0]}}")
    assert ended.stderr == ""
    assert ended.returncode in (DONE, FAILED)


def test_the_first_line_is_there_for_who_reads_one(program: Program) -> None:
    assert in_a_shell(program, "bw runs | head -1").stdout.startswith("Run ")


@pytest.mark.parametrize("command", ["runs", "runs --json", "runs tag run-0 kept"])
def test_a_full_disk_is_one_line(program: Program, command: str) -> None:
    ended = in_a_shell(program, f"bw {command} >/dev/full")
    assert ended.stderr == f"Error: Cannot write the output: {os.strerror(28)}.\n"
    assert ended.returncode == FAILED


def test_errors_that_cannot_be_told_still_have_a_code(program: Program) -> None:
    assert (
        in_a_shell(program, f"bw check --model m --base-url {NOWHERE} 2>/dev/full >/dev/full").returncode
        == FAILED
    )
