"""A minute of rate limits costs a run that minute, and no trial."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program, trials
from tests.simulated import simulated_endpoint

from benchwright.engine.progress import LiveProgress
from benchwright.records import Status


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


def test_a_run_outlasts_more_limits_than_it_has_retries(program: Program) -> None:
    with simulated_endpoint("--fault=rate_limit=1", "--max-faults=20", "--retry-after=0.2") as url:
        rows = program.rows(6)
        summary = program.summary(*program.evaluating(rows, url, "--batch-size=2", "--retries=0"))
    assert (summary.state, summary.done, summary.targets[0].failures) == ("finished", 6, {})
    requests = [request for trial in trials(program.only_run) for request in trial.requests]
    assert sum(request.attempts for request in requests) == 6 + 20
    assert summary.targets[0].requests.waited_seconds > 1.5
    assert max(request.waited for request in requests) > 10**9 > max(request.total for request in requests)


def test_a_longer_one_than_a_trial_waits_for_is_told(program: Program) -> None:
    with simulated_endpoint("--fault=rate_limit=1", "--retry-after=3600") as url:
        ended = program.run(*program.evaluating(program.rows(1), url, "--max-wait=5"))
    assert "asks to wait 3,600 s; a trial waits 5 s in all (--max-wait)" in " ".join(ended.stdout.split())
    assert [trial.status for trial in trials(program.only_run)] == [Status.PROVIDER_ERROR]


def test_a_pause_that_is_over_is_not_shown() -> None:
    progress = LiveProgress()
    progress.on_pause("m", 11.5)
    progress.on_pause("n", 0.001)
    time.sleep(0.002)
    assert progress.pauses_and_activities == ["waiting 12 s: rate limit of m"]
