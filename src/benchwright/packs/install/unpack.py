"""Writes a pack's files into a new directory, from an archive or from another directory.

Only plain files, directories, and links whose targets are inside the directory are written. No file is ever
written through a link, because links are created last. Of a file's mode, only the executable bit is kept.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchwright.packs.install.digest import VERSION_CONTROL_FOLDERS
from benchwright.packs.install.path_checks import CheckedPaths
from benchwright.packs.install.settings import CHUNK_BYTES, ArchiveError, InstallLimits
from benchwright.packs.install.tar import TarReader

GZIP_MAGIC = b"\x1f\x8b"


def extract_archive(archive: Path, target: Path, limits: InstallLimits) -> Path:
    """Unpack a .tar.gz into the new directory `target`. Return the pack's root.

    If the only entry at the top is a directory, this directory is the root. Otherwise `target` itself is.

    Raises:
        ArchiveError: If the archive is broken, exceeds a limit, or contains something forbidden.
        OSError: If the files cannot be written.
    """
    with open(archive, "rb") as file:
        if file.read(len(GZIP_MAGIC)) != GZIP_MAGIC:
            raise ArchiveError("it is not a .tar.gz file")
        file.seek(0)
        tree = _Tree(target, limits)
        reader = TarReader(file, limits)
        for entry in reader.entries():
            if entry.kind == "directory":
                tree.directory(entry.name)
            elif entry.kind == "file":
                tree.file(entry.name, reader.chunks(), executable=entry.is_executable)
            else:
                tree.link(entry.name, entry.link_target, hard=entry.kind == "hardlink")
        tree.finish()
    top = list(target.iterdir())
    return top[0] if len(top) == 1 and top[0].is_dir() and not top[0].is_symlink() else target


def copy_directory(source: Path, target: Path, limits: InstallLimits) -> Path:
    """Copy a pack's directory into the new directory `target`, and return `target`.

    The rules for archives apply. Directories of version control are skipped.

    Raises:
        ArchiveError: If the directory exceeds a limit or contains something forbidden.
        OSError: If the files cannot be read or written.
    """
    tree = _Tree(target, limits)
    pending = [source]
    while pending:
        with os.scandir(pending.pop()) as listing:
            found = sorted(listing, key=lambda item: item.name)
        for item in found:
            name = Path(item.path).relative_to(source).as_posix()
            if item.is_symlink():
                tree.link(name, os.readlink(item.path), hard=False)
            elif item.is_dir():
                if item.name not in VERSION_CONTROL_FOLDERS:
                    tree.directory(name)
                    pending.append(Path(item.path))
            elif item.is_file():
                executable = bool(item.stat().st_mode & stat.S_IXUSR)
                tree.file(name, _content(Path(item.path)), executable=executable)
            else:
                raise ArchiveError(f"{name!r} is not a file, directory or link")
    tree.finish()
    return target


def _content(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while piece := file.read(CHUNK_BYTES):
            yield piece


class _Tree:
    """A new directory to which the files of a pack are added."""

    def __init__(self, root: Path, limits: InstallLimits) -> None:
        root.mkdir()
        self._root = root
        self._limits = limits
        self._names = CheckedPaths(limits)
        self._entries = 0
        self._written = 0
        self._symlinks: dict[str, str] = {}
        self._hard_links: dict[str, str] = {}

    def directory(self, name: str) -> None:
        path = self._admit(name, directory=True)
        if path is not None:
            (self._root / path).mkdir(parents=True, exist_ok=True)

    def file(self, name: str, content: Iterable[bytes], *, executable: bool) -> None:
        path = self._admit(name, directory=False)
        assert path is not None
        target = self._root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(target, flags, 0o755 if executable else 0o644), "wb") as out:
            size = 0
            for piece in content:
                size += len(piece)
                self._count(len(piece))
                if size > self._limits.file_bytes:
                    raise ArchiveError(f"{path!r} is larger than {self._limits.file_bytes:,} bytes")
                out.write(piece)

    def link(self, name: str, target: str, *, hard: bool) -> None:
        path = self._admit(name, directory=False)
        assert path is not None
        (self._hard_links if hard else self._symlinks)[path] = target

    def finish(self) -> None:
        """Create the links, which must be created last. A hard link becomes a copy of the file that it names."""
        for path, target in self._hard_links.items():
            self._copy(path, target)
        for path, target in self._symlinks.items():
            if not target or target.startswith("/") or "\0" in target:
                raise ArchiveError(f"the link {path!r} leads out of the pack, to {target!r}")
            (self._root / path).parent.mkdir(parents=True, exist_ok=True)
            (self._root / path).symlink_to(target)
        root = self._root.resolve()
        for path, target in self._symlinks.items():
            if not Path(os.path.realpath(self._root / path)).is_relative_to(root):
                raise ArchiveError(f"the link {path!r} leads out of the pack, to {target!r}")

    def _copy(self, path: str, target: str) -> None:
        normal = "/".join(part for part in target.split("/") if part not in ("", "."))
        source = self._root / normal
        if target.startswith("/") or not self._names.is_file(normal) or not source.is_file():
            raise ArchiveError(f"the link {path!r} is to {target!r}, which is not a file of the pack")
        goal = self._root / path
        goal.parent.mkdir(parents=True, exist_ok=True)
        executable = bool(source.stat().st_mode & stat.S_IXUSR)
        with open(
            os.open(goal, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755 if executable else 0o644), "wb"
        ) as out:
            for piece in _content(source):
                self._count(len(piece))
                out.write(piece)

    def _admit(self, name: str, *, directory: bool) -> str | None:
        self._entries += 1
        if self._entries > self._limits.max_entries:
            raise ArchiveError(f"there are more than {self._limits.max_entries:,} entries")
        return self._names.add(name, directory=directory)

    def _count(self, size: int) -> None:
        self._written += size
        if self._written > self._limits.total_bytes:
            raise ArchiveError(f"the content is larger than {self._limits.total_bytes:,} bytes")
