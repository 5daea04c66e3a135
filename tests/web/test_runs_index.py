"""The list of runs follows the disk, and knows who is at work without getting in anybody's way."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from tests.app.compare_kit import STARTED, Made, made, write_run

from benchwright.analysis.run_list import RunFilter, sort_rows
from benchwright.errors import UserError
from benchwright.records import RunEvent, Status, TrialRecord
from benchwright.runs import journal_tail
from benchwright.runs.journal import TRIALS_FILE, Journal
from benchwright.runs.keys import fingerprint
from benchwright.runs.locks import KERNEL_LOCKS_FILE, interrupt_run, lock_holders, locking_process
from benchwright.runs.manifest import DataFile
from benchwright.web import runs_index
from benchwright.web.runs_index import RunsIndex


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
    monkeypatch.setattr(runs_index, "CACHE_SECONDS", 0.0)


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
    told = {row.id: (row.state, row.done, row.planned, row.tags) for row in index.rows()}
    assert told == {
        "a": ("finished", 1, 1, ["good"]),
        "b": ("unfinished", 2, 2, []),
        "c": ("finished", 3, 3, []),
    }


def level_of_load(directory: Path, planned: dict[str, int], *, finished: bool) -> None:
    """A run of three requests that go round the 300 prompts of its data."""
    about = {"load": {"level": {"concurrency": 4}}}
    data = [DataFile("prompts.jsonl", "0" * 32, 300)]
    write_run(directory, [], finished=False, about=about, data=data, scorers=[])
    (directory / TRIALS_FILE).unlink()
    journal = Journal(directory)
    journal.write_lines(RunEvent("started", STARTED, planned))
    for number in range(3):
        journal.write_lines(TrialRecord(fingerprint(number), str(number), "primary", Status.ANSWERED))
    if finished:
        journal.write_lines(RunEvent("finished", STARTED + 1))
    journal.close()


@pytest.mark.parametrize(
    ("planned", "finished", "told"),
    [
        ({"total": 5}, False, (3, 5)),
        ({"total": 3}, True, (3, 3)),
        ({}, False, (3, None)),
        ({}, True, (3, 3)),
    ],
)
def test_a_level_of_load_has_the_trials_of_its_journal_and_not_of_its_prompts(
    runs: Path, planned: dict[str, int], finished: bool, told: tuple[int, int | None]
) -> None:
    level_of_load(runs / "level", planned, finished=finished)
    row = RunsIndex().row("level")
    assert (row.done, row.planned) == told


def test_a_trial_that_was_cut_off_is_not_done_and_one_made_again_is_done_once(runs: Path) -> None:
    trials = [
        *made([1.0, 0.0]),
        Made("1", attempt=1),
        Made("cut", failed=Status.CANCELLED),
        Made("cut", failed=Status.CANCELLED, attempt=1),
    ]
    write_run(runs / "again", trials, finished=False)
    assert RunsIndex().row("again").done == 2


def test_a_journal_that_is_not_counted_yet_has_no_number(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_index, "MAX_READ_SECONDS", 0.0)
    monkeypatch.setattr(journal_tail, "BYTES_PER_READ", 1000)
    write_run(runs / "long", made([1.0] * 20))
    index = RunsIndex()
    told = [index.row("long").done for _ in range(40)]
    assert told[0] is None
    assert told[-1] == 20
    assert set(told) == {None, 20}


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
    assert [row.id for row in filter(RunFilter(words="MODEL-b").matches, rows)] == ["b"]
    assert [row.id for row in filter(RunFilter(state="finished").matches, rows)] == ["c", "a"]
    assert [row.id for row in sort_rows(rows, "oldest")] == ["a", "b", "c"]
    assert [row.id for row in sort_rows(rows, "size")] == ["c", "b", "a"]
    assert [row.id for row in sort_rows(rows, "no such order")] == ["c", "b", "a"]


needs_locks = pytest.mark.skipif(
    not KERNEL_LOCKS_FILE.exists(), reason="the kernel has no list of locks here"
)


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
        assert locking_process(runs / "b", lock_holders()) == process.pid
        assert locking_process(runs / "a", lock_holders()) is None
        interrupt_run(runs / "b")
        assert process.wait(timeout=20) != 0
    with pytest.raises(UserError, match="is not running"):
        interrupt_run(runs / "b")


def test_a_system_that_does_not_tell_who_works_says_so_and_shows_nobody(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.runs.locks.KERNEL_LOCKS_FILE", tmp_path / "none")
    assert lock_holders() == {}
    with pytest.raises(UserError, match="does not tell which process works on b: press Ctrl-C where it was"):
        interrupt_run(runs / "b")
