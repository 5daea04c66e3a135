"""Digests of the files of an installed pack, and the differences between two sets of files."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Container, Mapping
from pathlib import Path

from benchwright.packs.install.settings import CHUNK_BYTES

VERSION_CONTROL_FOLDERS = frozenset({".git", ".hg", ".svn"})
"""Names of directories of version control. They are not part of a pack."""


def file_digests(root: Path, without: Container[str] = ()) -> dict[str, str]:
    """Return the digests of all files and links below `root`, sorted by path: a mapping from relative path to digest.

    The digest of a file is the SHA-256 of its content, with the prefix `x:` if the file is executable. In
    place of a digest, a link has `link:` and its target, and anything else (such as a pipe) has `other`.
    Directories named in `without` are skipped at every level.

    Raises:
        OSError: If a file or directory cannot be read.
    """
    found: dict[str, str] = {}
    for directory, folders, files in os.walk(root, onerror=_raise):
        folders[:] = [folder for folder in folders if folder not in without]
        linked = [folder for folder in folders if os.path.islink(os.path.join(directory, folder))]
        for name in [*files, *linked]:
            path = os.path.join(directory, name)
            found[os.path.relpath(path, root)] = _digest(path)
    return dict(sorted(found.items()))


def tree_digest(files: Mapping[str, str]) -> str:
    """Return one SHA-256 for all files, computed over their sorted paths and digests."""
    whole = hashlib.sha256()
    for name, digest in sorted(files.items()):
        whole.update(f"{digest}\0{name}\0".encode(errors="surrogateescape"))
    return whole.hexdigest()


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def compare_digests(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the changes between two sets of digests, one line per changed path."""
    lines = []
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            lines.append(f"{name} is missing")
        elif name not in before:
            lines.append(f"{name} was added")
        elif before[name] != now[name]:
            lines.append(f"{name} was changed")
    return lines


def _digest(path: str) -> str:
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return f"link:{os.readlink(path)}"
    if not stat.S_ISREG(mode):
        return "other"
    return ("x:" if mode & stat.S_IXUSR else "") + file_digest(path)


def _raise(error: OSError) -> None:
    raise error
