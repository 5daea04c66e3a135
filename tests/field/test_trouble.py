"""What goes wrong in the middle of a run on a real server: Ctrl-C, and a server that is killed."""

from __future__ import annotations

import signal

import pytest
from tests.app.app_kit import GrowingJournal, finished, trials
from tests.field.field_kit import PRECISE, STORIES, Field, finish

from benchwright.records import FAILED_STATUSES

ANSWERS = ("--scorer", "regex", "--max-tokens", "40", "--concurrency", "2", *PRECISE)
BEFORE = 3
"""Trials that end before something goes wrong."""


@pytest.mark.feature("resumed")
def test_ctrl_c_loses_no_answer_and_asks_none_twice(field: Field) -> None:
    command = field.command("eval", "-d", field.rows(STORIES), *ANSWERS)
    started = field.program.start(*command)
    GrowingJournal(field.program).wait_for(BEFORE, started)
    started.send_signal(signal.SIGINT)
    assert finish(started).returncode == 130
    kept = {trial.key for trial in finished(field.program.only_run)}
    assert BEFORE <= len(kept) < len(STORIES)
    with field.log() as log:
        assert finish(field.program.start(*command)).returncode == 0
    asked = len(STORIES) - len(kept)
    assert len({trial.key for trial in finished(field.program.only_run)}) == len(STORIES)
    assert len(finished(field.program.only_run)) == len(STORIES)
    # What Ctrl-C cut off may still have ended, and been logged, after it.
    assert asked <= len(log.requests) <= asked + 2


@pytest.mark.feature("killed")
def test_a_killed_server_is_a_provider_error_and_the_run_goes_on_later(field: Field) -> None:
    command = field.command("eval", "-d", field.rows(STORIES), *ANSWERS, "--retries", "1")
    started = field.program.start(*command)
    GrowingJournal(field.program).wait_for(BEFORE, started)
    field.running.engine.kill()
    try:
        ended = finish(started)
    finally:
        field.running.engine.start()
    failed = [trial for trial in trials(field.program.only_run) if trial.status in FAILED_STATUSES]
    assert {trial.status for trial in failed} == {"provider_error"}
    # A server that is gone stops the run; a gateway that answers HTTP 500 for it does not.
    stopped = ended.returncode == 1
    assert stopped or f"{len(failed)} of {len(STORIES)} runs failed" in ended.stderr
    again = finish(field.program.start(*command, *([] if stopped else ["--retry-failed"])))
    assert again.returncode == 0, again.stdout + again.stderr
    assert len({trial.key for trial in finished(field.program.only_run)}) == len(STORIES)
