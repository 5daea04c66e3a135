"""The list of runs follows the disk, and knows who is at work without getting in anybody's way."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from tests.app.compare_kit import STARTED, made, write_run

from benchwright.errors import UserError
from benchwright.web import runs_index
from benchwright.web.locks import LOCKS, holders, interrupt, worker_of
from benchwright.web.runs_index import RunsIndex, filtered, ordered


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a store with three runs."""
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
    for number, name in enumerate("abc"):
        write_run(
            tmp_path / "runs" / name,
            made([1.0] * (number + 1)),
            finished=name != "b",
            created_at=STARTED + number,
            name=f"run {name}",
            typed_models={"primary": f"org/model-{name}"},
        )
    return tmp_path / "runs"


@pytest.fixture(autouse=True)
def always_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits for what was seen a moment ago to be forgotten."""
    monkeypatch.setattr(runs_index, "FRESH", 0.0)


def names(index: RunsIndex) -> list[str]:
    return [row.id for row in index.rows()]


def test_runs_come_and_go(runs: Path) -> None:
    index = RunsIndex()
    assert names(index) == ["c", "b", "a"]
    shutil.rmtree(runs / "b")
    write_run(runs / "d", made([1.0]), created_at=STARTED + 9)
    assert names(index) == ["d", "c", "a"]
    with pytest.raises(UserError, match="There is no run b"):
        index.directory("b")


def test_states_progress_and_tags_are_those_of_the_files(runs: Path) -> None:
    index = RunsIndex()
    (runs / "a" / "tags.json").write_text('["good"]')
    told = {row.id: (row.state, row.done, row.total, row.tags) for row in index.rows()}
    assert told == {
        "a": ("finished", 1, 1, ["good"]),
        "b": ("unfinished", 2, 2, []),
        "c": ("finished", 3, 3, []),
    }


def test_what_is_no_run_is_left_out(runs: Path) -> None:
    (runs / "empty").mkdir()
    (runs / "broken").mkdir()
    (runs / "broken" / "run.json").write_text("{")
    shutil.copytree(runs / "a", runs / "renamed")
    assert names(RunsIndex()) == ["c", "b", "a"]


@pytest.mark.parametrize("reference", ["", ".", "..", "a/../b", "/etc", "elsewhere"])
def test_only_whole_ids_are_looked_up(runs: Path, reference: str) -> None:
    with pytest.raises(UserError):
        RunsIndex().directory(reference)


def test_the_list_is_filtered_and_ordered(runs: Path) -> None:
    rows = RunsIndex().rows()
    assert [row.id for row in filtered(rows, "MODEL-b")] == ["b"]
    assert [row.id for row in filtered(rows, state="finished")] == ["c", "a"]
    assert [row.id for row in ordered(rows, "oldest")] == ["a", "b", "c"]
    assert [row.id for row in ordered(rows, "size")] == ["c", "b", "a"]
    assert [row.id for row in ordered(rows, "no such order")] == ["c", "b", "a"]


needs_locks = pytest.mark.skipif(not LOCKS.exists(), reason="the kernel has no list of locks here")


HOLDING = """
import filelock, sys, time
with filelock.FileLock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@needs_locks
def test_a_run_whose_lock_is_held_is_running_and_stands_on_top(runs: Path) -> None:
    index = RunsIndex()
    with FileLock(runs / "a" / "lock"):
        first = index.rows()[0]
        assert (first.id, first.state) == ("a", "running")
    assert names(index) == ["c", "b", "a"]


@needs_locks
def test_the_worker_is_the_process_that_holds_the_lock(runs: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(runs / "b" / "lock")], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert worker_of(runs / "b", holders()) == process.pid
        assert worker_of(runs / "a", holders()) is None
        interrupt(runs / "b")
        assert process.wait(timeout=20) != 0
    with pytest.raises(UserError, match="Nobody is working"):
        interrupt(runs / "b")
