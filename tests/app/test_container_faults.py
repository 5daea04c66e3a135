"""Whole runs in containers in which everything goes wrong: statuses are right, nothing is left, the rest goes on."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import GrowingJournal, Program, finished, one_line_of, trials
from tests.app.container_kit import Boxes, OwnEngine, own_engine, playing
from tests.simulated import simulated_endpoint

from benchwright.endpoint.simulate import read_truth
from benchwright.records import Status

pytestmark = pytest.mark.slow

RIGHT = "echo right > /answer"

HOSTILE = {
    "an honest task": [RIGHT],
    "a task that is given up": ["echo wrong > /answer"],
    "a memory hog": ["x=0123456789abcdef; while :; do x=$x$x; done", RIGHT],
    "a fork bomb": [
        "bomb() { while :; do (sleep 60 & bomb) & sleep 60 & done; }; (bomb &) 2>&-; sleep 60",
        RIGHT,
    ],
    "endless output": ["yes", RIGHT],
    "a program that ignores SIGTERM": ["trap '' TERM INT HUP; while :; do sleep 60; done", RIGHT],
    "a program in the background": ["(while :; do sleep 1; done) & (setsid sleep 600 &)", RIGHT],
    "a disk filler": [
        "n=0; while :; do n=$((n+1)); head -c 4000000 /dev/zero > /f$n; sleep 0.1; done",
        RIGHT,
    ],
    "its own shell removed": ["rm -rf /bin/sh /bin/kill; sleep 60", RIGHT],
    "another honest task": ["mkdir -p /a/b; cd /a/b", f"cd ../..; {RIGHT}"],
}
SLOW = [f"slow task {number}" for number in range(12)]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnEngine]:
    with own_engine(tmp_path_factory.mktemp("own-engine")) as engine:
        yield engine


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    scripts = [playing(task, *commands) for task, commands in HOSTILE.items()]
    scripts += [playing(task, f"sleep 0.8; {RIGHT}") for task in SLOW]
    with simulated_endpoint(scripts=scripts) as base_url:
        yield base_url


@pytest.fixture
def slow(program: Program, engine: OwnEngine, model: str) -> Iterator[Boxes]:
    """Twelve tasks of which two are under way at a time; in the end nothing is left of them."""
    yield Boxes(program, engine.address, model, SLOW)
    assert engine.left() == {}


def all_right(boxes: Boxes, before: set[str]) -> None:
    """All tasks are solved, and those that were finished before were not made again."""
    assert boxes.scores() == dict.fromkeys(SLOW, 1.0)
    made = Counter(trial.key for trial in trials(boxes.program.only_run))
    assert {made[key] for key in before} == {1}


def test_hostile_tasks_end_with_the_right_status_and_leave_nothing(
    program: Program, engine: OwnEngine, model: str
) -> None:
    boxes = Boxes(program, engine.address, model, list(HOSTILE))
    ended = boxes.run()
    assert ended.returncode == 0, ended.stderr
    ended_with_container = {"a disk filler", "its own shell removed"}
    assert boxes.statuses() == {
        task: Status.LIMIT if task in ended_with_container else Status.ANSWERED for task in HOSTILE
    }
    failed = {"a task that is given up", *ended_with_container}
    assert boxes.scores() == {task: float(task not in failed) for task in HOSTILE}
    assert engine.left() == {}


def test_a_container_killed_under_us_fails_its_task_alone_and_can_be_tried_again(
    slow: Boxes, engine: OwnEngine
) -> None:
    process = slow.start()
    while not (running := engine.running()):
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.4)
    engine.docker("kill", running[0])
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert Counter(slow.statuses().values()) == {Status.ANSWERED: len(SLOW) - 1, Status.EXECUTION_ERROR: 1}
    before = {trial.key for trial in finished(slow.program.only_run)}
    assert slow.run("--retry-failed").returncode == 0
    all_right(slow, before)


def test_an_engine_stopped_in_mid_run_ends_the_run_and_it_goes_on_later(
    slow: Boxes, engine: OwnEngine
) -> None:
    process = slow.start()
    GrowingJournal(slow.program).wait_for(2, process)
    engine.stop()
    try:
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "Docker is not running" in one_line_of(stderr)
        assert "Traceback" not in stderr
        before = {trial.key for trial in finished(slow.program.only_run)}
        assert 2 <= len(before) < len(SLOW)
        assert set(slow.statuses().values()) <= {Status.ANSWERED, Status.CANCELLED}
    finally:
        engine.start()
    assert slow.run().returncode == 0
    all_right(slow, before)


def test_what_a_killed_process_left_is_removed_when_the_run_goes_on(slow: Boxes, engine: OwnEngine) -> None:
    process = slow.start()
    GrowingJournal(slow.program).wait_for(2, process)
    while not (left := engine.running()):
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert set(engine.running()) & set(left), "its containers outlive it"
    before = {trial.key for trial in finished(slow.program.only_run)}
    assert slow.run().returncode == 0
    all_right(slow, before)


def test_interrupted_once_what_is_under_way_is_finished(slow: Boxes) -> None:
    process = slow.start("--concurrency=2")
    GrowingJournal(slow.program).wait_for(1, process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert set(slow.statuses().values()) == {Status.ANSWERED}
    before = {trial.key for trial in finished(slow.program.only_run)}
    assert slow.run().returncode == 0
    all_right(slow, before)


def test_interrupted_twice_what_is_under_way_is_gone_at_once(slow: Boxes, engine: OwnEngine) -> None:
    process = slow.start()
    GrowingJournal(slow.program).wait_for(1, process)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130, stderr
    assert engine.left() == {}
    before = {trial.key for trial in finished(slow.program.only_run)}
    assert slow.run().returncode == 0
    all_right(slow, before)


def test_without_an_engine_no_model_is_asked(program: Program, tmp_path: Path) -> None:
    truth = tmp_path / "truth.jsonl"
    with simulated_endpoint(f"--log={truth}") as own_model:
        ended = Boxes(program, "unix:///nowhere/docker.sock", own_model, list(HOSTILE)).run()
    assert ended.returncode == 1
    assert "unix:///nowhere/docker.sock" in one_line_of(ended.stderr)
    assert [one.path for one in read_truth(truth)] == ["/v1/models"]
