"""Reads and writes files of a container through the engine, without running any program of the container.

Untrusted code may have replaced the container's own `tar` or `head`. The engine sees the container's file
system and volumes. It sees neither mounts made inside the container nor `tmpfs`.
"""

from __future__ import annotations

import base64
import io
import posixpath
import tarfile
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from benchwright.errors import ExecutionError
from benchwright.records import Record
from benchwright.sandbox.docker.containers import Container, MiB
from benchwright.sandbox.docker.errors import convert_engine_errors

if TYPE_CHECKING:
    from aiohttp import ClientResponse

MAX_COPY_BYTES = 256 * MiB
"""Maximum number of bytes copied at once from one container to another."""

_STAT = "X-Docker-Container-Path-Stat"
_NOT_THERE = 404
CHUNK_BYTES = 256 * 1024
"""Number of bytes read at once."""
_NO_FILE = 0xFF280000
"""Bits of Go's os.FileMode that are set for folders, links, devices, pipes and sockets, but not for plain files."""


class FileMissing(ExecutionError):
    """Raised if a path of a container does not exist or is not a file."""


class FileTooLarge(ExecutionError):
    """Raised if a file of a container exceeds the size limit."""


class PathStat(Record, frozen=True):
    """The state of a path in a container, as the engine reports it.

    `mode`: Go's os.FileMode. `linkTarget`: the final target of a link; "" if the path is not a link.
    """

    size: int
    mode: int
    mtime: str
    linkTarget: str = ""

    @property
    def is_file(self) -> bool:
        """True if the path is a plain file."""
        return not self.mode & _NO_FILE


async def path_stat(container: Container, path: str) -> PathStat | None:
    """Return the state of a path, without following links. Return None if the path does not exist.

    Raises:
        EngineError: If the engine does not answer.
    """
    async with _asked(container, path) as response:
        return None if response is None else _stat(response)


async def read_file(container: Container, path: str, most: int) -> bytes:
    """Read a file, following links.

    Raises:
        FileMissing: If the path does not exist or is not a file.
        FileTooLarge: If the file is larger than `most` bytes.
        EngineError: If the engine does not answer.
    """
    stat = await path_stat(container, path)
    async with _asked(container, stat.linkTarget if stat and stat.linkTarget else path) as response:
        if response is None:
            raise FileMissing(f"{path} cannot be read from the sandbox: No such file")
        stat = _stat(response)
        if not stat.is_file:
            raise FileMissing(f"{path} cannot be read from the sandbox: it is not a file")
        if stat.size > most:
            raise FileTooLarge(f"{path} in the sandbox is larger than {most:,} bytes")
        archive = await response.read()
    return _only_file(archive)


async def read_archive(container: Container, path: str, most: int) -> bytes | None:
    """Return a file or folder as an uncompressed tar archive. Return None if the path does not exist.

    Links are followed. The first entry is the path itself. The content of a folder follows.

    Raises:
        FileTooLarge: If the archive is larger than `most` bytes.
        EngineError: If the engine does not answer.
    """
    stat = await path_stat(container, path)
    async with _asked(container, stat.linkTarget if stat and stat.linkTarget else path) as response:
        if response is None:
            return None
        pieces, size = [], 0
        async for piece in response.content.iter_chunked(CHUNK_BYTES):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise FileTooLarge(f"{path} in the sandbox is larger than {most:,} bytes")
    return b"".join(pieces)


async def write_archive(container: Container, folder: str, archive: bytes, *, as_user: bool = False) -> None:
    """Unpack a tar archive into an existing folder.

    `as_user`: True if the files are to belong to the container's user. A file or link is replaced if the
    archive has a folder of the same path. Parent folders that are missing in the archive and in the container
    are created, and belong to root.

    Raises:
        EngineError: If the engine does not answer or refuses.
    """
    with convert_engine_errors(f"writing files to {folder} of a container"):
        asked = container.handle.docker._query(  # the library's own call cannot set the owner
            f"containers/{container.name}/archive",
            method="PUT",
            params={"path": folder, "copyUIDGID": int(as_user)},
            data=io.BytesIO(archive),
            headers={"Content-Type": "application/x-tar"},
        )
        async with asked as response:
            await response.read()


async def copy_path(source: Container, target: Container, path: str) -> bool:
    """Copy a file or folder, with its content, to the same path of another container.

    Return False if the path does not exist. Neither container needs to be running.

    Raises:
        FileTooLarge: If the copy is larger than `MAX_COPY_BYTES` bytes.
        EngineError: If the engine does not answer or refuses.
    """
    content = bytearray()
    async with _asked(source, path) as response:
        if response is None:
            return False
        async for piece in response.content.iter_any():
            content += piece
            if len(content) > MAX_COPY_BYTES:
                raise FileTooLarge(f"{path} in the sandbox is larger than {MAX_COPY_BYTES:,} bytes")
    await write_archive(target, posixpath.dirname(path), bytes(content))
    return True


async def truncate_files(container: Container, paths: Iterable[str]) -> None:
    """Replace the files at absolute paths by empty files that are not executable. The container need not be running.

    Raises:
        EngineError: If the engine does not answer or refuses.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in paths:
            archive.addfile(tarfile.TarInfo(path.lstrip("/")))
    await write_archive(container, "/", buffer.getvalue())


def pack_files(files: Mapping[str, bytes], folder: str = "/") -> bytes:
    """Return an uncompressed tar archive of files, to be unpacked in `folder`. All files are executable.

    `files`: a mapping from the absolute path to the content.

    Raises:
        ExecutionError: If a path is relative, contains "..", or is outside the folder.
    """
    buffer = io.BytesIO()
    inside = folder.rstrip("/") + "/"
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, content in files.items():
            if not path.startswith("/") or ".." in path.split("/"):
                raise ExecutionError(f"a file of the sandbox needs a plain absolute path, not {path!r}")
            if not path.startswith(inside):
                raise ExecutionError(f"{path} cannot be written: only {folder} can be in this sandbox")
            entry = tarfile.TarInfo(path.removeprefix(inside))
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@asynccontextmanager
async def _asked(container: Container, path: str) -> AsyncIterator[ClientResponse | None]:
    """Request the archive of a path. Yield the response, or None if the path does not exist.

    The caller need not read the response's body.
    """
    import aiodocker

    with convert_engine_errors(f"reading {path} of a container"):
        asked = (
            container.handle.docker._query(  # the library's own call reads archives of any size into memory
                f"containers/{container.name}/archive", params={"path": path}
            )
        )
        try:
            async with asked as response:
                try:
                    yield response
                finally:
                    response.close()
            return
        except aiodocker.DockerError as error:
            if error.status != _NOT_THERE:
                raise
    yield None


def _stat(response: ClientResponse) -> PathStat:
    return msgspec.json.decode(base64.b64decode(response.headers[_STAT]), type=PathStat)


def _only_file(archive: bytes) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for member in opened:
            file = opened.extractfile(member)
            return file.read() if file else b""
    return b""
