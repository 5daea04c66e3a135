"""Files are written whole: whatever goes wrong in the middle, the old one stays as it was."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwright.errors import JournalError, UserError
from benchwright.files import append_to_file, atomic_file, write_atomically

KILLED = """
import os, signal, sys
from pathlib import Path
from benchwright.files import write_atomically

def pieces():
    yield b"new" * 1_000_000
    os.kill(os.getpid(), signal.SIGKILL)

write_atomically(Path(sys.argv[1]), pieces())
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    path.write_bytes(b"old")
    return path


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("content", [b"onetwo", [b"one", b"two"]])
def test_a_file_is_made_with_its_directories(
    content: bytes | list[bytes], durable: bool, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "below" / "result.json"
    write_atomically(path, content, durable=durable)
    write_atomically(path, content, durable=durable)
    assert path.read_bytes() == b"onetwo"
    assert list(path.parent.iterdir()) == [path]


def test_failing_in_the_middle_leaves_the_old_file_and_no_draft(old: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"new"
        assert old.read_bytes() == b"old"
        raise KeyError("in the middle")

    with pytest.raises(KeyError):
        write_atomically(old, pieces())
    assert old.read_bytes() == b"old"
    assert list(old.parent.iterdir()) == [old]


def test_being_killed_in_the_middle_leaves_the_old_file(old: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, str(old)], check=False)
    assert ended.returncode == -9
    assert old.read_bytes() == b"old"
    write_atomically(old, b"new")
    assert old.read_bytes() == b"new"


def test_two_writers_at_once_do_not_mix(old: Path) -> None:
    with atomic_file(old) as first, atomic_file(old) as second:
        first.write(b"first")
        second.write(b"second")
    assert old.read_bytes() == b"first"
    assert list(old.parent.iterdir()) == [old]


def test_new_files_have_the_usual_permissions_and_replaced_ones_their_own(old: Path) -> None:
    old.chmod(0o600)
    write_atomically(old, b"new")
    assert stat.S_IMODE(old.stat().st_mode) == 0o600
    other, usual = old.with_name("other.json"), old.with_name("usual")
    usual.touch()
    write_atomically(other, b"new")
    assert other.stat().st_mode == usual.stat().st_mode


def test_a_link_stays_a_link(old: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "link.json"
    link.parent.mkdir()
    link.symlink_to(old)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert old.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, [b"one", b"two"])
        assert os.read(reader, 100) == b"onetwo"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_long_name_is_no_hindrance(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 100 + "x" * 55)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("kind", [UserError, JournalError])
def test_what_cannot_be_written_is_an_error_of_one_line(
    kind: type[UserError | JournalError], old: Path, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=rf"^Cannot write {tmp_path}: Is a directory\.$"):
        write_atomically(tmp_path, b"new", error=kind)
    with pytest.raises(kind, match=rf"^Cannot write {old}/below\.json: Not a directory\.$"):
        write_atomically(old / "below.json", b"new", error=kind)
    with pytest.raises(kind, match="File name too long"):
        write_atomically(tmp_path / ("x" * 300), b"new", error=kind)
    with pytest.raises(kind, match=r"^Cannot write /dev/full: No space left on device\.$"):
        write_atomically(Path("/dev/full"), b"new", error=kind)
    assert list(tmp_path.iterdir()) == [old]


def test_a_full_disk_leaves_the_old_file(old: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"new"
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(UserError, match=r"result\.json: No space left on device\.$"):
        write_atomically(old, pieces())
    assert old.read_bytes() == b"old"
    assert list(old.parent.iterdir()) == [old]


def test_lines_are_added_at_the_end(old: Path) -> None:
    append_to_file(old, b" and new")
    assert old.read_bytes() == b"old and new"
    with pytest.raises(UserError, match="Cannot write"):
        append_to_file(old / "below", b"")
