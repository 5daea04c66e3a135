"""A client that stood still during an evaluation: its timings leave out what met it, and no limit counts that time."""

from __future__ import annotations

import pytest
from tests.app.app_kit import Program, trials
from tests.app.standing_still import stop_for, until_done, workers_of
from tests.simulated import simulated_endpoint

from benchwright.analysis.summary_records import RunSummary
from benchwright.records import Status
from benchwright.runs.standstills import STANDSTILL_FLAG

STILL = 2.5
ROWS = 120


def stopped(program: Program, *more: str, ttft: str = "100ms", done: int = 20, workers: bool = False) -> str:
    """Evaluate with a stop in the middle; return what was printed and said."""
    with simulated_endpoint("--ttft", ttft) as url:
        given = program.evaluating(program.rows(ROWS), url, "--concurrency", "4", *more)
        process = program.start(*given)
        until_done(program, done, process)
        stop_for(STILL, *(workers_of(process.pid) if workers else [process.pid]))
        out, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    return " ".join((out + said).split())


def shown(program: Program) -> RunSummary:
    return program.summary("show", program.only_run.name)


@pytest.mark.parametrize("workers", [False, True], ids=["one process", "worker processes"])
def test_the_timings_of_a_stopped_evaluation_are_those_of_the_server(program: Program, workers: bool) -> None:
    told = stopped(program, *(("--workers", "2") if workers else ()), workers=workers)
    assert "This client stood still for 2." in told
    (target,) = shown(program).targets
    requests = target.requests
    assert requests.latency_p99 is not None
    assert requests.latency_p99 < 1.0
    assert requests.ttft_p99 is not None
    assert requests.ttft_p99 < 1.0
    assert len(requests.standstills) == 1
    flagged = [
        one for trial in trials(program.only_run) for one in trial.requests if STANDSTILL_FLAG in one.flags
    ]
    assert 1 <= len(flagged) == requests.stood_still_requests <= 8
    assert f"Timings leave out {len(flagged)} request" in told


def test_the_time_of_a_standstill_is_in_no_throughput(program: Program) -> None:
    stopped(program)
    (target,) = shown(program).targets
    requests = target.requests
    assert requests.effective_throughput_rps is not None
    at_work = ROWS / requests.effective_throughput_rps
    assert at_work == pytest.approx(requests.wall_time_seconds - STILL, abs=0.5)


def test_a_time_limit_of_trials_does_not_count_it(program: Program) -> None:
    """A trial of half a second may take two; our process stood still for longer while it was under way."""
    stopped(program, "--trial-seconds", "2", ttft="500ms", done=4)
    assert {trial.status for trial in trials(program.only_run)} == {Status.ANSWERED}


def test_an_evaluation_that_never_stood_still_says_nothing_of_it(program: Program) -> None:
    with simulated_endpoint() as url:
        ended = program.run(*program.evaluating(program.rows(5), url))
    assert "stood still" not in ended.stdout + ended.stderr
