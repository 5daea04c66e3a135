"""A full disk under the program itself: one line, and what was done is kept and gone on from."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program, finished, one_line_of, scores

ROWS = 300


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, in memory."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root can mount a small file system (and not in every container)")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_fills_up_ends_the_run_and_with_more_room_it_goes_on(
    program: Program, echo: str, small_disk: Path
) -> None:
    program.home = small_disk / "home"
    program.environment["BENCHWRIGHT_HOME"] = str(program.home)
    command = program.evaluating(program.rows(ROWS), echo, "--batch-size=8")
    for _ in range(2):
        ended = program.run(*command)
        assert ended.returncode == 1
        assert one_line_of(ended.stderr) == (
            f"Error: The disk with {program.only_run} is full. All trials finished so far are kept: "
            "free some space and run the same command again."
        )
        assert "Traceback" not in ended.stderr
    done = finished(program.only_run)
    assert 0 < len(done) < ROWS

    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    summary = program.summary(*command)
    assert (summary.state, summary.done) == ("finished", ROWS)
    assert len(finished(program.only_run)) == len(scores(program.only_run)) == ROWS
    assert {trial.key for trial in done} <= {trial.key for trial in finished(program.only_run)}


def test_a_disk_without_room_for_the_first_byte(program: Program, echo: str, small_disk: Path) -> None:
    with pytest.raises(OSError, match="No space left on device"):
        (small_disk / "ballast").write_bytes(bytes(1_000_000))
    program.environment["BENCHWRIGHT_HOME"] = str(small_disk / "home")
    ended = program.run(*program.evaluating(program.rows(3), echo))
    assert ended.returncode == 1
    assert "No space left on device" in one_line_of(ended.stderr)
    assert "Traceback" not in ended.stderr
