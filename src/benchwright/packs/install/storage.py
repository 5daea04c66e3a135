"""The storage of installed packs: its layout, and the few ways in which it is changed.

    <storage>/<id>/current.json                    which version counts; replaced whole, by rename
              <id>/versions/<version>-<8 hex>/     a version, whole from the moment it is there
              <id>/versions/<version>-<8 hex>.json where it came from, and the digests of its files
              .staging/<hex>/                      what is on its way in or out; left ones are swept away
              .lock                                held while any of this changes

The layout of `<id>` is that of the desktop host. A pack whose manifest lies directly in `<id>` (an older
layout) is read too; one that is used where it is has `local` in its current.json.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchwright.errors import UserError
from benchwright.packs.install.sources import Source
from benchwright.packs.manifest import MANIFEST_NAME
from benchwright.records import UNREADABLE, Record

if TYPE_CHECKING:
    from filelock import BaseFileLock

CURRENT = "current.json"
VERSIONS = "versions"
LOCK_SECONDS = 60.0


class CurrentVersion(Record, frozen=True, rename="camel"):
    """current.json: the name of the version that counts, or the directory that is used in place."""

    version: str = ""
    updated_at: str = ""
    local: str | None = None


class InstallRecord(Record, frozen=True):
    """How a version came here. `origin` is the address or path that it was read from in the end.

    `files` are digests as `digest.digests` gives them; `tree_sha256` is that over all of them, and
    `archive_sha256` that of the archive, None where there was none. `installed_at` is ISO 8601.
    """

    source: Source
    origin: str
    tree_sha256: str
    files: dict[str, str]
    installed_at: str
    archive_sha256: str | None = None


def now() -> str:
    """The time in ISO 8601, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_current(home: Path) -> CurrentVersion | None:
    """What counts for the pack at `home` (`<storage>/<id>`); None where nothing is installed there."""
    try:
        current = msgspec.json.decode((home / CURRENT).read_bytes(), type=CurrentVersion)
    except (OSError, *UNREADABLE):
        return None
    plain = re.fullmatch(r"(?!\.{0,2}$)[^/\0]+", current.version)
    return current if current.local or plain else None


def directory_of(home: Path) -> Path | None:
    """Where the pack at `home` lies; None where nothing is installed there."""
    current = read_current(home)
    if current is None:
        return home if (home / MANIFEST_NAME).is_file() else None
    return Path(current.local) if current.local else home / VERSIONS / current.version


def record_path(version: Path) -> Path:
    """Where the record of a version lies: beside its directory."""
    return version.with_name(f"{version.name}.json")


def move_tree(source: Path, target: Path) -> None:
    """Moves a directory; also onto another file system, where it becomes visible when it is whole.

    Raises:
        OSError: it cannot be moved.
    """
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        staged = target.with_name(f".{target.name}.tmp")
        shutil.copytree(source, staged, symlinks=True)
        os.rename(staged, target)


def remove(path: Path) -> None:
    """Removes a directory with all that is in it, or a link; what cannot be removed stays."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def locked(storage: Path) -> Iterator[None]:
    """Holds the storage for this process, for a change that takes a moment.

    Raises:
        UserError: another process held it for a whole minute.
        OSError: the storage cannot be written.
    """
    from filelock import FileLock, Timeout

    storage.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(storage / ".lock", timeout=LOCK_SECONDS):
            yield
    except Timeout:
        raise UserError(
            f"Another process is changing the packs in {storage}; try again when it is done."
        ) from None


@contextmanager
def staging(storage: Path) -> Iterator[Path]:
    """A directory in the storage that is gone afterwards; sweeps those of processes that are no more.

    Raises:
        UserError, OSError: as `locked`.
    """
    from filelock import FileLock

    room = storage / ".staging" / uuid.uuid4().hex
    lock: BaseFileLock = FileLock(room / "lock")
    with locked(storage):
        _sweep(storage)
        room.mkdir(parents=True)
        lock.acquire()
    try:
        yield room
    finally:
        remove(room)
        lock.release()


def _sweep(storage: Path) -> None:
    """Removes what killed processes left; the storage is locked."""
    from filelock import FileLock, Timeout

    for room in (storage / ".staging").glob("*"):
        try:
            with FileLock(room / "lock", timeout=0):
                remove(room)
        except (Timeout, OSError):  # its process is at work, or it cannot be removed
            continue
    for home in storage.iterdir():
        if not home.is_symlink() and home.is_dir() and [entry.name for entry in home.iterdir()] == [VERSIONS]:
            remove(home)  # its first version was never made the current one


def prune(home: Path, *keep: str) -> None:
    """Removes all versions of a pack but those to keep; the storage is locked."""
    kept = {name for version in keep for name in (version, f"{version}.json")}
    for entry in (home / VERSIONS).iterdir():
        if entry.name not in kept:
            remove(entry)
    for leftover in home.glob(f".{CURRENT}.*.tmp"):
        remove(leftover)
