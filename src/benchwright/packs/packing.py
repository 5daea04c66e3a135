"""Builds the archive of a pack. `pack install` and other hosts can install the archive."""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

from benchwright.errors import UserError
from benchwright.packs.install.digest import file_digest
from benchwright.packs.install.settings import ArchiveError, InstallLimits
from benchwright.packs.install.unpack import copy_directory
from benchwright.packs.manifest import PackManifest
from benchwright.records import Record

EXCLUDED_NAMES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".venv", ".DS_Store"}
)
"""Names of files and folders that are not packed, because tools left them behind."""


class PackedArchive(Record, frozen=True):
    """The archive that was written."""

    path: Path
    file_count: int
    size_bytes: int
    sha256: str


def archive_name(manifest: PackManifest) -> str:
    """Return the file name of a pack's archive, without its extension."""
    return f"{manifest.id}-{manifest.version}".replace("/", "-")


def pack_directory(directory: Path, manifest: PackManifest, target: Path) -> PackedArchive:
    """Write a pack's files to a .tar.gz. Version control, caches and earlier archives of the pack are left out.

    The same files result in the same bytes, whenever and wherever they are packed.

    Raises:
        UserError: If the pack contains something that no host installs, or the archive cannot be written.
    """
    name = archive_name(manifest)
    try:
        with tempfile.TemporaryDirectory(prefix="benchwright-pack-") as room:
            tree = copy_directory(directory, Path(room, name), InstallLimits())
            _clear(tree, manifest.id)
            files = _write(tree, name, target)
    except ArchiveError as error:
        raise UserError(f"{directory} cannot be packed: {error}.") from None
    except OSError as error:
        raise UserError(f"{error.filename or target} cannot be written ({error.strerror}).") from None
    return PackedArchive(target, files, target.stat().st_size, file_digest(target))


def _clear(tree: Path, pack_id: str) -> None:
    for path in sorted(tree.rglob("*")):
        if path.name in EXCLUDED_NAMES and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name in EXCLUDED_NAMES:
            path.unlink(missing_ok=True)
    for path in tree.glob(f"{pack_id}*.tar.gz"):
        path.unlink()


def _write(tree: Path, name: str, target: Path) -> int:
    """Write the archive, and return the number of files in it.

    The archive is written beside `target`, and renamed to `target` when it is complete.
    """
    part = target.with_name(f".{target.name}.part")
    paths = sorted(path for path in tree.rglob("*") if path.is_symlink() or path.is_file())
    try:
        with (
            open(part, "wb") as out,
            gzip.GzipFile("", "wb", fileobj=out, mtime=0) as zipped,
            tarfile.open(mode="w", fileobj=zipped, format=tarfile.PAX_FORMAT) as archive,
        ):
            for path in paths:
                relative = path.relative_to(tree).as_posix()
                archive.add(path, f"{name}/{relative}", recursive=False, filter=_anonymous)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    return len(paths)


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry
