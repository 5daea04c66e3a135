"""A client that stood still under load: it is told, and what met it is in no figure."""

from __future__ import annotations

import subprocess
from contextlib import AbstractContextManager

import msgspec
import pytest
from tests.app.app_kit import Program
from tests.app.load.load_kit import rate
from tests.app.standing_still import Freezer, stop_for, until_done, with_other_clocks, workers_of
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.records import LevelResult, LoadReport

LATENCY = 0.3
"""Seconds that the server takes for a request: much more than a busy machine adds."""

STILL = 2.5
"""Seconds that the client stands still."""

CLOSED = ("--concurrency", "24", "--duration", "7")
OPEN = ("--rate", "40", "--arrivals", "constant", "--duration", "5")
RATES = {CLOSED: 80, OPEN: 40}


def begin(
    program: Program, url: str, *arguments: str, more: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    """Begin a level against a server that takes 300 ms for each request."""
    given = ("--synthetic-input", "5", "--no-metrics", "--no-probe", "--no-stream", *arguments)
    return program.start("load", "--model", "m", "--base-url", url, *given, "--json", **more or {})


def end(process: subprocess.Popen[str]) -> tuple[LevelResult, str]:
    """Return the only level, and what was said."""
    out, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    (level,) = msgspec.json.decode(out, type=LoadReport).levels
    return level, said


def server() -> AbstractContextManager[str]:
    return simulated_endpoint("--ttft", f"{LATENCY * 1000:.0f}ms", "--policy", "words", "--words", "1")


def has_true_figures(level: LevelResult, truth: float) -> None:
    """The rate is that of the server, and no request has waited for us."""
    assert level.achieved is not None
    assert rate(level) == pytest.approx(truth, rel=0.15)
    assert level.latency is not None
    assert level.latency.p99.value < LATENCY + 0.5
    assert level.offered is None or level.offered == pytest.approx(truth, rel=0.15)


@pytest.mark.parametrize("load", [CLOSED, OPEN], ids=["closed", "open"])
def test_a_stopped_client_leaves_out_what_met_it_and_says_so(program: Program, load: tuple[str, ...]) -> None:
    with server() as url:
        process = begin(program, url, *load)
        until_done(program, 40, process)
        stop_for(STILL, process.pid)
        level, said = end(process)
    has_true_figures(level, RATES[load])
    (still,) = level.stood_still
    assert still.cause == "stopped"
    assert STILL - 0.2 < still.seconds < STILL + 1
    assert 0 < still.at < 5
    assert level.disturbed > 8
    assert "This client stood still for" in said


def test_a_stopped_client_is_in_the_tables(program: Program) -> None:
    with server() as url:
        process = begin(program, url, *CLOSED)
        until_done(program, 40, process)
        stop_for(STILL, process.pid)
        end(process)
    (run,) = program.runs
    shown = " ".join(program.run("show", run.name).stdout.split())
    assert "This client stood still for" in shown
    assert "Timings leave out" in shown
    name = str(msgspec.json.decode((run / "run.json").read_bytes())["about"]["load"]["id"])
    report = program.run("report", name, "-o", "report.html")
    assert report.returncode == 0, report.stderr
    assert "this client stood still for" in (program.directory / "report.html").read_text()


def test_a_frozen_container_is_known(program: Program) -> None:
    try:
        freezer = Freezer()
    except OSError as error:
        pytest.skip(str(error))
    program.forked = False  # else it is a child of the server of forks
    with server() as url:
        process = begin(program, url, *CLOSED)
        until_done(program, 40, process)
        freezer.freeze_for(STILL, process.pid)
        level, _ = end(process)
    freezer.end()
    assert [still.cause for still in level.stood_still] == ["stopped"]
    has_true_figures(level, RATES[CLOSED])


@pytest.mark.parametrize("which", ["one worker", "all"])
def test_worker_processes_that_stood_still_are_known(program: Program, which: str) -> None:
    with server() as url:
        process = begin(program, url, *CLOSED, "--workers", "2")
        until_done(program, 40, process)
        workers = workers_of(process.pid)
        assert len(workers) == 2
        stop_for(STILL, *(workers[:1] if which == "one worker" else [process.pid, *workers]))
        level, _ = end(process)
    has_true_figures(level, RATES[CLOSED])
    assert len(level.stood_still) == 1, "of several that stood still together one is told"


STEPPED = """
import os, time
real = time.time_ns
time.time_ns = lambda: real() - (3_600_000_000_000 if os.path.exists("now") else 0)
"""

SUSPENDED = """
import os, time
real = time.clock_gettime_ns

def read(clock):
    slept = clock == time.CLOCK_BOOTTIME and os.path.exists("now")
    return real(clock) + (600_000_000_000 if slept else 0)

time.clock_gettime_ns = read
"""

PAUSED = """
import os, time
real = time.time_ns
time.time_ns = lambda: real() + (600_000_000_000 if os.path.exists("now") else 0)
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_step_of_the_systems_clock_moves_no_request(program: Program, workers: str) -> None:
    """The clock is put back by an hour in the middle of the level."""
    clocks = with_other_clocks(program, STEPPED)
    with server() as url:
        process = begin(program, url, *OPEN, "--workers", workers, more=clocks)
        until_done(program, 60, process)
        program.write("now", "")
        level, _ = end(process)
    assert level.overall is not None
    assert level.overall.seconds < 10
    assert level.steady
    has_true_figures(level, RATES[OPEN])
    assert not level.stood_still


@pytest.mark.parametrize(
    ("code", "cause", "told"),
    [
        (SUSPENDED, "suspended", "the machine was suspended"),
        (PAUSED, "jumped", "the machine was paused, or its clock"),
    ],
    ids=["suspended", "paused"],
)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_machine_that_slept_is_known(
    program: Program, code: str, cause: str, told: str, workers: str
) -> None:
    """CLOCK_BOOTTIME goes on while the machine sleeps, here for ten minutes; CLOCK_MONOTONIC does not. In a virtual
    machine that was paused both stand, and the wall clock is put right."""
    clocks = with_other_clocks(program, code)
    with server() as url:
        process = begin(program, url, *CLOSED, "--workers", workers, more=clocks)
        until_done(program, 60, process)
        program.write("now", "")
        level, said = end(process)
    has_true_figures(level, RATES[CLOSED])
    (still,) = level.stood_still
    assert still.cause == cause
    assert still.seconds == pytest.approx(600, abs=1)
    assert told in " ".join(said.split())
