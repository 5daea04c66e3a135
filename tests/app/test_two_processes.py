"""Two processes on one run: the second waits and shows what the first found, or is told clearly."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from tests.app.app_kit import GrowingJournal, Program, one_line_of, settings, trials
from tests.simulated import simulated_endpoint

from benchwright.endpoint.simulate import read_truth

WAITING = "Another process is working on this run; waiting up to"


@pytest.fixture(scope="module")
def slow() -> Iterator[str]:
    with simulated_endpoint("--first-token=200") as base_url:
        yield base_url


def at_work(program: Program, command: list[str]) -> subprocess.Popen[str]:
    """Starts the command and returns when its first trial is done."""
    process = program.start(*command)
    GrowingJournal(program).wait_for(1, process)
    return process


def test_the_second_waits_and_then_shows_the_finished_result(program: Program, slow: str) -> None:
    command = program.evaluating(program.rows(40), slow, "--batch-size=4")
    first = at_work(program, command)
    second = program.run(*command)
    first.communicate(timeout=30)
    assert (first.returncode, second.returncode) == (0, 0)
    assert f"{WAITING} 30 s" in second.stderr
    assert "Evaluation already completed (cached)" in second.stdout
    assert "finished, 40 of 40 trials" in second.stdout
    assert len(trials(program.only_run)) == 40


def test_two_that_start_together_share_one_run(program: Program, tmp_path: Path) -> None:
    log = tmp_path / "truth.jsonl"
    with simulated_endpoint(*settings(first_token=50, log=log)) as base_url:
        command = program.evaluating(program.rows(20), base_url, "--batch-size=4")
        for process in [program.start(*command) for _ in range(3)]:
            process.communicate(timeout=30)
            assert process.returncode == 0
    assert len(trials(program.only_run)) == 20
    asked = [truth for truth in read_truth(log) if truth.path != "/v1/models"]
    assert Counter(truth.complete for truth in asked)[True] == 20


def test_two_that_start_together_make_one_run(program: Program, echo: str) -> None:
    """Else each could find no run, and make one."""
    command = program.evaluating(program.rows(2), echo)
    together = [program.start(*command) for _ in range(2)]
    assert [process.wait(timeout=30) for process in together] == [0, 0]
    assert len(program.runs) == 1
    assert len(trials(program.only_run)) == 2


def test_one_that_would_wait_too_long_is_told_clearly(program: Program, slow: str) -> None:
    command = program.evaluating(program.rows(60), slow, "--batch-size=2")
    first = at_work(program, command)
    second = program.run(*command, OSMOSIS_EVAL_LOCK_TIMEOUT="1")
    first.kill()
    first.communicate()
    assert second.returncode == 1
    line = one_line_of(second.stderr)
    assert line.startswith("Error: Another eval with the same config is already running (lock: ")
    assert line.endswith("Wait for it, or set OSMOSIS_EVAL_LOCK_TIMEOUT to wait longer.")


def test_one_that_waits_can_be_interrupted(program: Program, slow: str) -> None:
    command = program.evaluating(program.rows(60), slow, "--batch-size=2")
    first = at_work(program, command)
    second = program.start(*command)
    assert second.stderr is not None
    assert any(line.startswith(WAITING) for line in second.stderr)
    second.send_signal(signal.SIGINT)
    start = monotonic()
    second.communicate(timeout=30)
    first.kill()
    first.communicate()
    assert second.returncode == 130
    assert monotonic() - start < 10, "it would have waited for 30 s"


def test_a_killed_process_leaves_no_lock_behind(program: Program, slow: str) -> None:
    command = program.evaluating(program.rows(10), slow, "--batch-size=5")
    first = at_work(program, command)
    first.kill()
    first.communicate()
    second = program.run(*command)
    assert second.returncode == 0
    assert WAITING not in second.stderr


def test_another_configuration_does_not_wait(program: Program, slow: str) -> None:
    rows = program.rows(60)
    first = at_work(program, program.evaluating(rows, slow, "--batch-size=2"))
    second = program.run(*program.evaluating(rows, slow, "--limit=1"))
    first.kill()
    first.communicate()
    assert second.returncode == 0
    assert WAITING not in second.stderr


def test_a_senseless_time_to_wait_is_said(program: Program, echo: str) -> None:
    ended = program.run(*program.evaluating(program.rows(1), echo), OSMOSIS_EVAL_LOCK_TIMEOUT="soon")
    assert ended.returncode == 0
    told = "OSMOSIS_EVAL_LOCK_TIMEOUT='soon' is not a number of seconds; using 30.\n"
    assert ended.stderr.count(told) == 1
