"""Atomic file writes: at any time, a file has either its complete new content or its complete old content."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO

from benchwright.errors import BenchwrightError, UserError

FileStamp = tuple[tuple[int, int], ...]
"""Type: (size in bytes, modification time in ns) for each of several files; (0, 0) for a missing file."""


def write_atomically(
    path: Path,
    content: bytes | Iterable[bytes],
    *,
    durable: bool = False,
    error: type[BenchwrightError] = UserError,
) -> None:
    """Write a file atomically (by rename); see `atomic_file`.

    Content that is given in pieces is written piece by piece.

    Raises:
        error: If the file cannot be written.
    """
    with atomic_file(path, durable=durable, error=error) as file:
        file.writelines([content] if isinstance(content, bytes) else content)


def file_stamps(*paths: Path) -> FileStamp:
    """Return the size and modification time of each file, without reading its content."""
    return tuple(map(_stamp, paths))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


@contextmanager
def atomic_file(
    path: Path, *, durable: bool = False, error: type[BenchwrightError] = UserError
) -> Iterator[IO[bytes]]:
    """Yield a temporary file that replaces `path` when the block ends.

    If the block raises, the temporary file is deleted.

    Missing directories are created, symbolic links are followed, and the permissions of a replaced file are kept.
    `durable`: True if the new content must also survive a power loss. If `path` exists and is not a regular file
    (/dev/stdout, a named pipe), `path` is written to directly.

    Raises:
        error: If the file cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
        else:
            with _draft(Path(os.path.realpath(path)), durable=durable) as file:
                yield file
    except OSError as failure:
        raise error(_cannot_write(path, failure)) from None


def append_to_file(
    path: Path, content: bytes | Iterable[bytes], *, error: type[BenchwrightError] = UserError
) -> None:
    """Append content to a file.

    Raises:
        error: If the file cannot be written.
    """
    try:
        with path.open("ab") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
    except OSError as failure:
        raise error(_cannot_write(path, failure)) from None


@contextmanager
def _draft(path: Path, *, durable: bool) -> Iterator[IO[bytes]]:
    """Yield a temporary file beside `path`, which replaces `path` on exit."""
    with suppress(FileExistsError):  # if the parent is a file, opening the draft raises
        path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name[:40]}.{token_hex(4)}.tmp")
    try:
        with draft.open("xb") as file:
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    if durable:
        _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _cannot_write(path: Path, failure: OSError) -> str:
    return f"Cannot write {path}: {failure.strerror or failure}."
