"""A level over several processes: the same requests at the same moments, each of them once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.app.app_kit import Program, trials
from tests.app.load.load_kit import key, measure, runs_of
from tests.simulated import simulated_endpoint

from benchwright.endpoint.simulate import read_truth


def arrived(log: Path) -> list[float]:
    """When the server had requests of the level, in seconds from the first."""
    moments = sorted(truth.received for truth in read_truth(log) if truth.path.endswith("completions"))
    return [(moment - moments[0]) / 1e9 for moment in moments]


def test_a_closed_loop_asks_and_grades_everything_once(program: Program) -> None:
    with simulated_endpoint("--first-token", "20", answers=key(20)) as url:
        report = measure(
            *(program, url, "--dataset", program.rows(20), "--scorer", "exact", "--workers", "2"),
            *("--concurrency", "4", "--requests", "60"),
        )
    (level,) = report.levels
    (run,) = runs_of(program, report)
    assert level.judged is not None
    assert (level.judged.correct, level.judged.n, level.failed) == (60, 60, 0)
    assert level.in_flight <= 4
    assert set(Counter(trial.sample for trial in trials(run)).values()) == {3}


def test_the_start_of_processes_takes_no_time_of_a_level(program: Program) -> None:
    with simulated_endpoint("--first-token", "40") as url:
        report = measure(
            *(program, url, "--dataset", program.rows(20), "--workers", "2"),
            *("--concurrency", "4", "--duration", "1"),
        )
    (level,) = report.levels
    assert level.requests > 20, (
        "a process takes about a second to start: some 100 requests of 40 ms, not one or two"
    )


def test_an_open_loop_has_one_schedule_for_all_processes(program: Program) -> None:
    """Two processes take turns: what one of them alone would send is every second arrival."""
    log = program.directory / "truth.jsonl"
    with simulated_endpoint("--log", str(log)) as url:
        report = measure(
            *(program, url, "--dataset", program.rows(10), "--rate", "50", "--arrivals", "constant"),
            *("--requests", "100", "--workers", "2"),
        )
    (level,) = report.levels
    assert level.requests == 100
    assert level.offered == pytest.approx(50, rel=0.05)
    moments = arrived(log)
    assert len(moments) == 100
    assert moments[-1] == pytest.approx(99 / 50, abs=0.5)
    halves = [moments[50] - moments[0], moments[-1] - moments[50]]
    assert halves == pytest.approx([1, 1], abs=0.4), (
        "evenly over the time, not first the one's and then the other's"
    )


def test_synthetic_prompts_are_those_of_one_process(program: Program) -> None:
    asked = []
    with simulated_endpoint() as url:
        for workers in ("1", "2"):
            report = measure(
                *(program, url, "--synthetic-input", "20", "--seed", "7", "--requests", "12"),
                *("--concurrency", "3", "--workers", workers),
            )
            (run,) = runs_of(program, report)
            asked.append(sorted(trial.sample for trial in trials(run)))
    assert asked[0] == asked[1]


def test_a_level_that_is_over_by_time_ends_in_all_processes(program: Program) -> None:
    with simulated_endpoint("--first-token", "30") as url:
        report = measure(
            *(
                program,
                url,
                "--synthetic-input",
                "20",
                "--duration",
                "2",
                "--concurrency",
                "4",
                "--workers",
                "2",
            ),
        )
    (level,) = report.levels
    assert level.state == "finished"
    assert level.begin + level.seconds < 2.5
