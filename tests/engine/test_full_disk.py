"""A disk that is full: one clear line, and whatever was written whole is kept and gone on from."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engine.engine_kit import Asked, always, journalled, plan_of, run_plan

from benchwright.engine.protocols import Session
from benchwright.errors import JournalError
from benchwright.records import Outcome, Trial
from benchwright.runs.journal import BODIES_FILE, TRIALS_FILE, read_body

ROOT = Path(__file__).parents[2]
PROGRAM = "tests.engine.program_with_little_room"
PLENTY = 1_000_000


def run_with_room_for(directory: Path, size: int) -> subprocess.CompletedProcess[str]:
    """Runs 100 trials in a process whose files may grow to so many bytes."""
    return subprocess.run(
        [sys.executable, "-m", PROGRAM, directory, str(size)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("size", [1_000, 4_321, 12_000])
async def test_a_full_disk_ends_the_run_with_one_line_and_keeps_what_was_whole(
    tmp_path: Path, size: int
) -> None:
    ended = run_with_room_for(tmp_path, size)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert str(tmp_path) in line
    assert "Traceback" not in line

    done = journalled(tmp_path)
    assert 0 < len(done.trials) < 100
    assert [read_body(tmp_path, trial).key for trial in done.trials] == [trial.key for trial in done.trials]
    for file in (TRIALS_FILE, BODIES_FILE):
        assert (tmp_path / file).read_bytes().endswith(b"\n")

    asked = Asked()
    assert (await run_plan(plan_of(100, asked, [always(1.0)]), tmp_path)).is_finished
    assert len(asked.samples) == 100 - len(done.trials)
    assert len(journalled(tmp_path).scores) == 100


def test_a_write_that_was_cut_short_says_that_the_disk_is_full(tmp_path: Path) -> None:
    """The kernel takes what still fits of a write; the rest would tear the line."""
    ended = run_with_room_for(tmp_path, 4_321)
    assert "is full. All trials finished so far are kept: free some space" in ended.stderr


def test_with_room_enough_the_same_program_ends_well(tmp_path: Path) -> None:
    ended = run_with_room_for(tmp_path, PLENTY)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert len(journalled(tmp_path).scores) == 100


async def test_a_disk_that_fails_to_keep_what_it_took_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `fdatasync` reports each second, from another thread. It reports a loss once, and is fine again."""
    reported: list[int] = []

    def broken(descriptor: int) -> None:
        if not reported:
            reported.append(descriptor)
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    async def slowly(trial: Trial, session: Session) -> Outcome:
        await asyncio.sleep(0.1)
        return Outcome()

    monkeypatch.setattr(os, "fdatasync", broken)
    with pytest.raises(JournalError, match="cannot be written: Input/output error"):
        await run_plan(plan_of(1000, slowly), tmp_path)
    assert 0 < len(journalled(tmp_path).trials) < 1000
