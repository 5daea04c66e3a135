"""Arguments, variables and directories whose bytes are no UTF-8: one line, whichever command they are given to."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.app.app_kit import NOWHERE, Program, one_line_of

BAD = os.fsdecode(b"m\xff")
ASKING = ["--model", "m", "--base-url", NOWHERE, "--scorer", "exact"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "-d", "rows.jsonl", *ASKING, "--model", BAD],
        ["eval", "-d", f"{BAD}.jsonl", *ASKING],
        ["eval", "-d", "rows.jsonl", *ASKING, "--param", f"stop={BAD}"],
        ["eval", "-d", "rows.jsonl", *ASKING, "--template", f"{BAD} {{prompt}}"],
        ["load", "-d", "rows.jsonl", "--model", BAD, "--base-url", NOWHERE],
        ["run", "mmlu", "--model", BAD],
        ["list", "--plugin", f"{BAD}.py"],
        ["pack", "run", BAD, "--model", "m"],
        ["init", "agent", BAD],
        ["runs", "--model", BAD],
        ["show", BAD],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_an_argument_is_named(program: Program, arguments: list[str]) -> None:
    program.rows(1)
    ended = program.run(*arguments)
    assert ended.returncode == 1
    assert "is not valid UTF-8; use another name." in one_line_of(ended.stderr)
    assert r"m\udcff" in ended.stderr


def test_a_variable_is_named(program: Program) -> None:
    ended = program.run("eval", "-d", program.rows(1), "--scorer", "exact", BENCHWRIGHT_MODEL=BAD)
    assert r"m\udcff' is not valid UTF-8" in one_line_of(ended.stderr)


def test_a_directory_is_named(program: Program) -> None:
    program.directory = program.directory / BAD
    program.directory.mkdir()
    assert r"m\udcff' is not valid UTF-8" in one_line_of(program.run("runs").stderr)


@pytest.mark.parametrize("command", ["runs", "list", "doctor"])
def test_a_directory_that_was_deleted_is_told(program: Program, command: str) -> None:
    program.directory = program.directory / "gone"
    program.directory.mkdir()
    ended = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD" && exec "$0" -m benchwright "$1"', sys.executable, command],
        cwd=program.directory,
        env=program.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert "The working directory is gone" in one_line_of(ended.stderr)


def test_files_beside_the_ones_in_use_do_not_matter(program: Program) -> None:
    (program.home / "runs" / BAD).mkdir(parents=True)
    (program.directory / f"{BAD}.py").write_text("")
    assert program.run("runs").returncode == 0


def test_a_source_file_of_that_name_is_part_of_the_tools(program: Program) -> None:
    tools = program.directory / "tools"
    tools.mkdir()
    (tools / "main.py").write_text("from fastmcp import FastMCP\n\nmcp = FastMCP('x')\n")
    (tools / f"{BAD}.py").write_text("")
    program.rows(1)
    ended = program.run("eval", "--mcp", "tools", "-d", "rows.jsonl", *ASKING)
    assert "Traceback" not in ended.stderr
