"""Copies folders into a container. The files in them keep their modes, and links stay links."""

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

MAX_TREE_BYTES = 256 * MiB


async def write_tree(sandbox: DockerSandbox, sources: Sequence[Path], target: str) -> None:
    """Write files, and the contents of folders, into a folder of the container. Create the folder if it is missing.

    Other files in the folder are kept. The engine writes the files, without a program of the container.

    Raises:
        ExecutionError: If a source cannot be written, or if there is too much.
        EngineError: If the engine does not answer or refuses.
    """
    archive = await asyncio.to_thread(pack_tree, sources, target.strip("/"))
    await write_archive(sandbox.container, "/", archive)


async def write_into_folder(sandbox: DockerSandbox, sources: Sequence[Path], folder: str) -> None:
    """Write files, and the contents of folders, into an existing folder. The folder's owner and mode are kept.

    Raises:
        ExecutionError: If a source cannot be written, or if there is too much.
        EngineError: If the engine does not answer or refuses.
    """
    await write_archive(sandbox.container, folder, await asyncio.to_thread(pack_tree, sources))


async def make_folder(sandbox: DockerSandbox, path: str, mode: int) -> None:
    """Create a folder with this mode, which belongs to root. A file or link at its path is replaced.

    Raises:
        EngineError: If the engine does not answer or refuses.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(_folder(path.strip("/"), mode))
    await write_archive(sandbox.container, "/", buffer.getvalue())


def pack_tree(sources: Sequence[Path], below: str = "", most: int = MAX_TREE_BYTES) -> bytes:
    """Return an uncompressed tar archive of files, and of the contents of folders, all placed in the folder `below`.

    All entries belong to root. Modes and links are kept.

    Raises:
        ExecutionError: If a source cannot be read, or is not a file, folder or link, or if the total exceeds
            `most` bytes.
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
    """Add one file, folder or link to the archive, and return its size in bytes."""
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
