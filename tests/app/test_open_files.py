"""A limit of open files bounds what is in flight: it is raised as far as the system lets us, and told if it binds."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest
from tests.app.app_kit import Program, one_line_of, trials
from tests.app.load.load_kit import measure
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.records import LoadReport
from benchwright.app.connections import RESERVED_OPEN_FILES, warn_of_too_few_connections
from benchwright.records import Status

LIMIT = 96
"""Few, but enough for the program itself."""


@pytest.fixture
def limited(program: Program) -> Program:
    """The program with so few open files, which it cannot have raised."""
    limits = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({LIMIT}, {LIMIT}))"
    (program.directory / "limits").mkdir()
    (program.directory / "limits" / "sitecustomize.py").write_text(limits)
    path = program.environment.get("PYTHONPATH")
    program.environment["PYTHONPATH"] = ":".join(filter(None, [str(program.directory / "limits"), path]))
    return program


def test_an_evaluation_has_as_many_in_flight_as_can_be_and_says_so(limited: Program) -> None:
    with simulated_endpoint("--ttft", "200ms") as url:
        ended = limited.run(*limited.evaluating(limited.rows(200), url, "--concurrency", "150"))
    assert ended.returncode == 0, ended.stderr
    said = " ".join(ended.stderr.split())
    assert f"of 150 requests can be in flight at once, as this process may have {LIMIT} files open" in said
    assert "-" not in said.partition("Only ")[2].partition(" of 150")[0]
    assert {trial.status for trial in trials(limited.only_run)} == {Status.ANSWERED}


def test_a_concurrency_that_finds_itself_is_not_held_at_one(limited: Program) -> None:
    with simulated_endpoint("--ttft", "20ms", "--slots", "8") as url:
        ended = limited.run(*limited.evaluating(limited.rows(400), url, "--concurrency", "auto"))
    assert ended.returncode == 0, ended.stderr
    assert max(limited.summary("show", limited.only_run.name).found_concurrency) >= 4


def test_a_closed_loop_that_cannot_be_is_refused_with_what_can_be(limited: Program) -> None:
    ended = limited.run(
        *("load", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--no-probe"),
        *("--dataset", limited.rows(5), "--concurrency", "500", "--requests", "5"),
    )
    assert ended.returncode == 1
    told = one_line_of(ended.stderr)
    assert f"500 requests cannot be in flight at once: this process may have {LIMIT} files open" in told


def test_an_open_loop_says_if_it_came_to_the_limit(limited: Program) -> None:
    with simulated_endpoint("--ttft", "1s") as url:
        load = ("--synthetic-input", "5", "--rate", "150", "--arrivals", "constant", "--duration", "1")
        report: LoadReport = measure(limited, url, *load, "--no-metrics", "--no-probe")
    (level,) = report.levels
    assert level.limit_reached
    assert level.in_flight < LIMIT
    assert level.held_back > 0
    assert level.failed == 0


def test_the_limit_is_raised_where_the_system_lets_us() -> None:
    """In a process of its own, since the limit is one of the process."""
    program = (
        "import resource\n"
        "from benchwright.app.connections import raise_connection_limit\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 300))\n"
        "print(raise_connection_limit(150), resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n"
        "print(raise_connection_limit(1024), resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))\n"
        "print(raise_connection_limit(1024))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    (first, raised), (most, limit), (least,) = (map(int, line.split()) for line in ended.stdout.splitlines())
    assert (first, limit, least) == (150, 300, 1)
    assert 150 < raised < 300
    assert 200 < most <= 300 - RESERVED_OPEN_FILES


def test_nothing_is_said_where_there_are_enough() -> None:
    said = list[str]()
    warn_of_too_few_connections(10, 10, said.append)
    assert not said
    warn_of_too_few_connections(10, 4, said.append)
    assert said == [
        f"Only 4 of 10 requests can be in flight at once, as this process may have "
        f"{resource.getrlimit(resource.RLIMIT_NOFILE)[1]:,} files open (ulimit -n): the others wait."
    ]
