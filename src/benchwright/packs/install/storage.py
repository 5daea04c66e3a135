"""The storage of installed packs: its layout, and the functions that change it.

    <storage>/<id>/current.json                    names the current version; replaced whole, by rename
    <id>/versions/<version>-<8 hex>/     a version, complete from the moment it appears
    <id>/versions/<version>-<8 hex>.json the version's source, and the digests of its files .staging/<hex>/
    files being installed or removed; leftovers are deleted .lock                                held during
    changes

The layout of `<id>` is that of the desktop host (BenchLocal). In an older layout, a pack's manifest is
directly in `<id>`; such a pack is read, too. A pack that is used in place has `local` in its current.json.
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
from benchwright.packs.install.sources import PackSource
from benchwright.packs.manifest import MANIFEST_NAME
from benchwright.records import DECODE_ERRORS, Record

if TYPE_CHECKING:
    from filelock import BaseFileLock

CURRENT_FILE = "current.json"
VERSIONS_FOLDER = "versions"
LOCK_SECONDS = 60.0


class CurrentVersion(Record, frozen=True, rename="camel"):
    """The content of current.json: the name of the current version, or the directory that is used in place."""

    version: str = ""
    updated_at: str = ""
    local: str | None = None


class InstallRecord(Record, frozen=True):
    """The record of an installed version.

    `origin`: the address or path from which the version was finally read. `files`: a mapping from path to
    digest, see `digest.file_digests`. `tree_sha256`: the digest over all files. `archive_sha256`: the digest
    of the archive, None if there was no archive. `installed_at`: in ISO 8601.
    """

    source: PackSource
    origin: str
    tree_sha256: str
    files: dict[str, str]
    installed_at: str
    archive_sha256: str | None = None


def utc_now() -> str:
    """Return the current UTC time in ISO 8601, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_current_version(home: Path) -> CurrentVersion | None:
    """Return the current version of the pack at `home` (`<storage>/<id>`). Return None if none is installed."""
    try:
        current = msgspec.json.decode((home / CURRENT_FILE).read_bytes(), type=CurrentVersion)
    except (OSError, *DECODE_ERRORS):
        return None
    plain = re.fullmatch(r"(?!\.{0,2}$)[^/\0]+", current.version)
    return current if current.local or plain else None


def current_directory(home: Path) -> Path | None:
    """Return the directory of the pack at `home`. Return None if none is installed."""
    current = read_current_version(home)
    if current is None:
        return home if (home / MANIFEST_NAME).is_file() else None
    return Path(current.local) if current.local else home / VERSIONS_FOLDER / current.version


def install_record_path(version: Path) -> Path:
    """Return the path of a version's record, which is beside the version's directory."""
    return version.with_name(f"{version.name}.json")


def move_tree(source: Path, target: Path) -> None:
    """Move a directory. If `target` is on another file system, `target` appears only when it is complete.

    Raises:
        OSError: If the directory cannot be moved.
    """
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        staged = target.with_name(f".{target.name}.tmp")
        shutil.copytree(source, staged, symlinks=True)
        os.rename(staged, target)


def remove_tree(path: Path) -> None:
    """Remove a directory with its content, or remove a link. Files that cannot be removed are left."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def lock_storage(storage: Path) -> Iterator[None]:
    """Lock the storage against other processes until exit, for a short change.

    Raises:
        UserError: If another process held the lock for `LOCK_SECONDS`.
        OSError: If the storage cannot be written.
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
def staging_directory(storage: Path) -> Iterator[Path]:
    """Create a directory in the storage for files in progress. Remove the directory on exit.

    Directories that dead processes left are removed, too.

    Raises:
        UserError: If the storage cannot be locked; see `lock_storage`.
        OSError: If the storage cannot be written.
    """
    from filelock import FileLock

    room = storage / ".staging" / uuid.uuid4().hex
    lock: BaseFileLock = FileLock(room / "lock")
    with lock_storage(storage):
        _sweep(storage)
        room.mkdir(parents=True)
        lock.acquire()
    try:
        yield room
    finally:
        remove_tree(room)
        lock.release()


def _sweep(storage: Path) -> None:
    """Remove the staging directories of killed processes. The storage must be locked."""
    from filelock import FileLock, Timeout

    for room in (storage / ".staging").glob("*"):
        try:
            with FileLock(room / "lock", timeout=0):
                remove_tree(room)
        except (Timeout, OSError):  # its process is still running, or it cannot be removed
            continue
    for home in storage.iterdir():
        if (
            not home.is_symlink()
            and home.is_dir()
            and [entry.name for entry in home.iterdir()] == [VERSIONS_FOLDER]
        ):
            remove_tree(home)  # its first version was never made the current one


def remove_old_versions(home: Path, *keep: str) -> None:
    """Remove all versions of a pack except those in `keep`. The storage must be locked."""
    kept = {name for version in keep for name in (version, f"{version}.json")}
    for entry in (home / VERSIONS_FOLDER).iterdir():
        if entry.name not in kept:
            remove_tree(entry)
    for leftover in home.glob(f".{CURRENT_FILE}.*.tmp"):
        remove_tree(leftover)
