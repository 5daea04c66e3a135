"""Copies files from one container to another path in another container."""

from __future__ import annotations

import asyncio
import io
import posixpath
import tarfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from benchwright.sandbox.docker.archives import write_archive
from benchwright.sandbox.docker.containers import Container


async def write_tree_at(
    container: Container, archive: bytes, path: str, exclude: Sequence[str] = ()
) -> tuple[int, int]:
    """Write an archive made by `archives.read_archive` into a container. The archive's first entry becomes `path`.

    All files belong to root. Entries that match a pattern of `exclude` are left out. Unsafe entries are left
    out, too: special files, and links that lead out of `path`. Set-user bits are removed. Return the number
    of files and links written, and the number of unsafe entries.

    Raises:
        EngineError: If the engine does not answer or refuses.
    """
    packed, files, refused = await asyncio.to_thread(_repacked, archive, path, exclude)
    await write_archive(container, "/", packed)
    return files, refused


def _repacked(archive: bytes, path: str, exclude: Sequence[str]) -> tuple[bytes, int, int]:
    """Return (archive for the root folder, number of files and links, number of unsafe entries)."""
    buffer = io.BytesIO()
    files = refused = 0
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as source,
        tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as target,
    ):
        for entry, inside in _entries(source):
            if inside and _is_excluded(inside, exclude):
                continue
            moved = _moved(entry, inside, path.strip("/"))
            if moved is None:
                refused += 1
                continue
            files += not moved.isdir()
            target.addfile(moved, source.extractfile(entry) if moved.isreg() else None)
    return buffer.getvalue(), files, refused


def _entries(archive: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, str]]:
    """Yield (entry, path) for each entry. The path is relative to the first entry, whose own path is ""."""
    for entry in archive:
        yield entry, posixpath.normpath(entry.name).partition("/")[2]


def _moved(entry: tarfile.TarInfo, inside: str, place: str) -> tarfile.TarInfo | None:
    """Return a copy of the entry with its new path. Return None if the entry is unsafe."""
    if ".." in PurePosixPath(inside).parts or not (
        entry.isreg() or entry.isdir() or entry.issym() or entry.islnk()
    ):
        return None
    moved = tarfile.TarInfo(posixpath.join(place, inside).rstrip("/"))
    moved.type, moved.size, moved.mtime = entry.type, entry.size, entry.mtime
    moved.mode = entry.mode & 0o777 if inside or not entry.isdir() else 0o777
    if entry.issym():
        goal = posixpath.normpath(posixpath.join(posixpath.dirname(inside), entry.linkname))
        if entry.linkname.startswith("/") or goal.split("/")[0] == "..":
            return None
        moved.linkname = entry.linkname
    elif entry.islnk():
        moved.linkname = posixpath.join(place, posixpath.normpath(entry.linkname).partition("/")[2])
    return moved


def _is_excluded(inside: str, patterns: Sequence[str]) -> bool:
    """Return True if a pattern excludes a path, by the rules of `tar --exclude`.

    A pattern excludes a path if it matches the path or one of its parent folders. It may match the whole path
    of either, or only the last components.
    """
    parts = inside.split("/")
    ends = {"/".join(parts[begin:end]) for end in range(1, len(parts) + 1) for begin in range(end)}
    wanted = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]
    return any(fnmatchcase(end, pattern) for pattern in wanted for end in ends)
