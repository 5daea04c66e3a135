"""Signals at any instant of any command: it ends soon and quietly, leaves nobody behind, and its run is completed."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.app_kit import finished, trials
from tests.app.pack_kit import need_node
from tests.faults.how_often import tried
from tests.faults.interrupted import (
    BENCHMARK,
    EVAL,
    LOAD,
    PACK,
    POLITE,
    RESUMED,
    VIEW,
    WORKERS,
    Blow,
    Door,
    Ended,
    Laboratory,
    blows,
    laboratory,
    now,
)

from benchwright.app.run_lookup.unfinished_runs import is_reported
from benchwright.runs.store import last_event_name

pytestmark = pytest.mark.slow

DONE, FAILED, INTERRUPTED = 0, 1, 130
RUDE = st.sampled_from([signal.SIGHUP, signal.SIGKILL])
KILLED = (-signal.SIGINT, -signal.SIGTERM)
"""What a command is ended by before a run has begun, or after it."""

WRONG = ("Traceback", "Exception ignored", "Fatal Python error")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    need_node()
    with laboratory(tmp_path_factory.mktemp("signals")) as lab:
        yield lab


def before_us(ended: Ended) -> bool:
    """Whether Ctrl-C came while Python itself was starting, which tells its own places, and none of ours."""
    ours = ended.err.replace("/benchwright/__main__.py", "").replace("/benchwright/cli/start.py", "")
    return (
        ended.code in (FAILED, *KILLED) and "KeyboardInterrupt" in ended.err and "/benchwright/" not in ours
    )


@tried(4, of="door")
@given(door=st.sampled_from([EVAL, WORKERS, BENCHMARK, PACK, LOAD, VIEW]), blow=blows(POLITE))
def test_it_ends_soon_and_quietly_and_leaves_nobody_behind(lab: Laboratory, door: Door, blow: Blow) -> None:
    with lab.program() as program:
        ended = lab.interrupted(program, door, blow)
        assert before_us(ended) or not any(word in ended.err for word in WRONG), ended.err
        assert ended.seconds < 15
        assert before_us(ended) or ended.code in (DONE, INTERRUPTED, *KILLED), ended.err


@tried(4, of="door")
@given(door=st.sampled_from(RESUMED), blow=blows(POLITE | RUDE))
def test_the_same_command_completes_its_run_and_asks_for_the_rest_only(
    lab: Laboratory, door: Door, blow: Blow
) -> None:
    with lab.program() as program:
        lab.interrupted(program, door, blow)
        stopped = now()
        kept = [trial for run in program.runs if (run / "trials.jsonl").exists() for trial in finished(run)]
        # A finished run of a benchmark or a pack would be run again: so the documents say.
        if not any(last_event_name(run) == "finished" and is_reported(run) for run in program.runs):
            ended = program.run(*door.arguments(program, lab.server.base_url))
            assert ended.returncode == DONE, ended.stderr
        done = finished(program.only_run)
        assert len({trial.key for trial in done}) == len(done) == door.planned
        assert done[: len(kept)] == kept, "none was asked again"
        assert lab.asked_since(stopped) == door.planned - len(kept)
        completed = now()
        again = program.run("resume", program.only_run.name)
        assert "is finished" in again.stderr
        assert lab.asked_since(completed) == 0


@tried(2)
@given(blow=blows(POLITE | RUDE))
def test_what_was_measured_under_load_can_be_read_and_measured_again(lab: Laboratory, blow: Blow) -> None:
    with lab.program() as program:
        lab.interrupted(program, LOAD, blow)
        for run in program.runs:
            shown = program.run("show", run.name)
            assert shown.returncode == DONE or "Error: " in shown.stderr, shown.stderr
            assert len(trials(run)) <= LOAD.planned
        again = program.run(*LOAD.arguments(program, lab.server.base_url))
        assert again.returncode == DONE, again.stderr
