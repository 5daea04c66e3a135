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
from benchwright.sandbox.docker.archives import write_archive
from benchwright.sandbox.docker.containers import MiB
from benchwright.sandbox.docker.sandbox import DockerSandbox

LARGEST_TREE = 256 * MiB


async def write_tree(sandbox: DockerSandbox, sources: Sequence[Path], target: str) -> None:
    """Writes files, and the contents of folders, into a folder of the container, which is made where it is not there.

    The engine writes them; what is in the folder besides stays.

    Raises:
        ExecutionError: there is what cannot be written, or too much of it.
        EngineError: the engine does not answer, or refuses.
    """
    archive = await asyncio.to_thread(packed_tree, sources, target.strip("/"))
    await write_archive(sandbox.container, "/", archive)


async def write_into(sandbox: DockerSandbox, sources: Sequence[Path], folder: str) -> None:
    """The same for a folder that is there, whose owner and mode stay.

    Raises:
        ExecutionError: there is what cannot be written, or too much of it.
        EngineError: the engine does not answer, or refuses.
    """
    await write_archive(sandbox.container, folder, await asyncio.to_thread(packed_tree, sources))


async def make_folder(sandbox: DockerSandbox, path: str, mode: int) -> None:
    """Makes a folder of root's with a mode; a file or link that lies there is replaced.

    Raises:
        EngineError: the engine does not answer, or refuses.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(_folder(path.strip("/"), mode))
    await write_archive(sandbox.container, "/", buffer.getvalue())


def packed_tree(sources: Sequence[Path], below: str = "", most: int = LARGEST_TREE) -> bytes:
    """An uncompressed archive of files, and of what is in folders, in the folder `below` of the archive.

    All belongs to root, modes and links are kept.

    Raises:
        ExecutionError: something is neither file, folder nor link, cannot be read, or all is larger than `most`.
    """
    buffer = io.BytesIO()
    left = most
    try:
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
            if below:
                archive.addfile(_folder(below, 0o755))
            for source in sources:
                for path, name in _members(source):
                    left -= _add(archive, path, str(PurePosixPath(below, name)), left)
    except OSError as error:
        raise ExecutionError(f"{error.filename or sources[0]} cannot be read: {error.strerror}") from error
    return buffer.getvalue()


def _folder(name: str, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    return entry


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
