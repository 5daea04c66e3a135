"""The first signal ends what gets nowhere."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from tests.app.app_kit import Program, trials
from tests.faults.hostile_server import STREAM, STREAMED, hostile

from benchwright.records import Status


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


@pytest.mark.parametrize("more", [[], ["--workers=2"]], ids=["one process", "two"])
def test_one_signal_is_enough_where_nothing_but_comments_comes(program: Program, more: list[str]) -> None:
    rows = program.rows(2)
    with hostile(STREAM, STREAMED["comments"]) as server:
        options = ["--batch-size=2", "--timeout=3", "--no-probe", *more]
        process = program.start(*program.evaluating(rows, f"{server.url}/v1", *options))
        while server.requests < 2:
            time.sleep(0.01)
        started = monotonic()
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=30)
        assert monotonic() - started < 10, "six attempts would have taken 18 seconds"
    assert process.returncode == 130
    assert "Traceback" not in stderr
    cut_off = trials(program.only_run)
    assert [trial.status for trial in cut_off] == [Status.CANCELLED] * 2
    assert all("no token for 3 s when the run was stopped" in (trial.reason or "") for trial in cut_off)
