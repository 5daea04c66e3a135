"""Folders on their way into a container, with the modes and links of what is in them."""

from __future__ import annotations

import asyncio
import io
import os
import stat
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from benchwright.errors import ExecutionError
from benchwright.sandbox.docker.containers import MiB
from benchwright.sandbox.docker.sandbox import FILE_SECONDS, Sandbox

LARGEST_TREE = 256 * MiB


async def write_tree(sandbox: Sandbox, sources: Sequence[Path], target: str, before: str = "true") -> None:
    """Writes files, and the contents of folders, into a folder of the container, which is made where it is not there.

    `before` is a command of the shell that runs first.

    Raises:
        ExecutionError: there is what cannot be written, or too much of it, or the image's `tar` failed.
        EngineError: the engine does not answer.
    """
    archive = await asyncio.to_thread(packed_tree, sources)
    unpack = f'{before}; mkdir -p "$0" && exec tar -x -o -f - -C "$0"'
    ended = await sandbox.run(["sh", "-c", unpack, target], seconds=FILE_SECONDS, stdin=archive)
    if not ended.succeeded:
        raise ExecutionError(f"{target} could not be written in the container: {ended.complaint}")


def packed_tree(sources: Sequence[Path], most: int = LARGEST_TREE) -> bytes:
    """An uncompressed archive of files, and of what is in folders. All belongs to root, modes and links are kept.

    Raises:
        ExecutionError: something is neither file, folder nor link, cannot be read, or all is larger than `most`.
    """
    buffer = io.BytesIO()
    left = most
    try:
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for source in sources:
                for path, name in _members(source):
                    left -= _add(archive, path, name, left)
    except OSError as error:
        raise ExecutionError(f"{error.filename or sources[0]} cannot be read: {error.strerror}") from error
    return buffer.getvalue()


def _members(source: Path) -> Iterator[tuple[Path, str]]:
    if not source.is_dir():
        yield source, source.name
        return
    for here, folders, files in os.walk(source):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = Path(here, name)
            yield path, str(PurePosixPath(path.relative_to(source)))


def _add(archive: tarfile.TarFile, path: Path, name: str, left: int) -> int:
    """Adds one entry; returns its size."""
    status = path.lstat()
    entry = tarfile.TarInfo(name)
    entry.mode = stat.S_IMODE(status.st_mode) & 0o777
    if stat.S_ISDIR(status.st_mode):
        entry.type = tarfile.DIRTYPE
    elif stat.S_ISLNK(status.st_mode):
        entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(path)
    elif not stat.S_ISREG(status.st_mode):
        raise ExecutionError(f"{path} is neither a file nor a folder nor a link")
    elif status.st_size > left:
        raise ExecutionError(f"{path} and its directory are too large for a container")
    else:
        content = path.read_bytes()
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
        return entry.size
    archive.addfile(entry)
    return 0
