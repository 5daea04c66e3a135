"""Files of a container, read and written by the engine: no program of the container takes part.

What a container's own `tar` or `head` would say is up to whoever worked in it. The engine sees its file system and its
volumes, and not what was mounted from within, or as `tmpfs`.
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
from benchwright.sandbox.docker.errors import engine_errors

if TYPE_CHECKING:
    from aiohttp import ClientResponse

LARGEST_COPY = 256 * MiB
"""Bytes that are copied at once from one container to another."""

_STAT = "X-Docker-Container-Path-Stat"
_NOT_THERE = 404
PIECE = 256 * 1024
"""Bytes that are read at once."""
_NO_FILE = 0xFF280000
"""Of Go's os.FileMode the bits of folders, links, devices, pipes and sockets."""


class NoFile(ExecutionError):
    """There is no file at a path of a container."""


class FileTooLarge(ExecutionError):
    """A file of a container is larger than what is read of it."""


class PathStat(Record, frozen=True):
    """What lies at a path. `mode` is Go's os.FileMode; `linkTarget` is where a link leads in the end, else ""."""

    size: int
    mode: int
    mtime: str
    linkTarget: str = ""

    @property
    def is_file(self) -> bool:
        """Whether it is a plain file."""
        return not self.mode & _NO_FILE


async def path_stat(container: Container, path: str) -> PathStat | None:
    """What lies at a path, a link itself and not what it leads to; None where there is nothing.

    Raises:
        EngineError: the engine does not answer.
    """
    async with _asked(container, path) as response:
        return None if response is None else _stat(response)


async def read_file(container: Container, path: str, most: int) -> bytes:
    """The content of a file, also behind links.

    Raises:
        NoFile: there is none, or what lies there is no file.
        FileTooLarge: it is larger than `most` bytes.
        EngineError: the engine does not answer.
    """
    stat = await path_stat(container, path)
    async with _asked(container, stat.linkTarget if stat and stat.linkTarget else path) as response:
        if response is None:
            raise NoFile(f"{path} cannot be read from the sandbox: No such file")
        stat = _stat(response)
        if not stat.is_file:
            raise NoFile(f"{path} cannot be read from the sandbox: it is not a file")
        if stat.size > most:
            raise FileTooLarge(f"{path} in the sandbox is larger than {most:,} bytes")
        archive = await response.read()
    return _only_file(archive)


async def read_archive(container: Container, path: str, most: int) -> bytes | None:
    """An uncompressed archive of the file or folder at a path, also behind a link; None where there is nothing.

    Its first entry is what lies at the path, the others lie below that.

    Raises:
        FileTooLarge: it is larger than `most` bytes.
        EngineError: the engine does not answer.
    """
    stat = await path_stat(container, path)
    async with _asked(container, stat.linkTarget if stat and stat.linkTarget else path) as response:
        if response is None:
            return None
        pieces, size = [], 0
        async for piece in response.content.iter_chunked(PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise FileTooLarge(f"{path} in the sandbox is larger than {most:,} bytes")
    return b"".join(pieces)


async def write_archive(container: Container, folder: str, archive: bytes, *, as_user: bool = False) -> None:
    """Unpacks a tar archive into a folder that is there; `as_user` makes the container's user own what is in it.

    A file or link in the way of a folder is replaced by it; folders that the archive does not hold belong to root.

    Raises:
        EngineError: the engine does not answer, or refuses.
    """
    with engine_errors(f"writing files to {folder} of a container"):
        asked = container.handle.docker._query(  # the library's own call has no way to name the owner
            f"containers/{container.name}/archive",
            method="PUT",
            params={"path": folder, "copyUIDGID": int(as_user)},
            data=io.BytesIO(archive),
            headers={"Content-Type": "application/x-tar"},
        )
        async with asked as response:
            await response.read()


async def copy_path(source: Container, target: Container, path: str) -> bool:
    """Puts what lies at a path of one container, a folder with all in it, at the same path of another; False where
    there is nothing. Neither needs to run.

    Raises:
        FileTooLarge: it is larger than `LARGEST_COPY` bytes.
        EngineError: the engine does not answer, or refuses.
    """
    content = bytearray()
    async with _asked(source, path) as response:
        if response is None:
            return False
        async for piece in response.content.iter_any():
            content += piece
            if len(content) > LARGEST_COPY:
                raise FileTooLarge(f"{path} in the sandbox is larger than {LARGEST_COPY:,} bytes")
    await write_archive(target, posixpath.dirname(path), bytes(content))
    return True


async def blank_out(container: Container, paths: Iterable[str]) -> None:
    """Puts empty files that cannot be executed at absolute paths, in place of what lies there. It need not run.

    Raises:
        EngineError: the engine does not answer, or refuses.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in paths:
            archive.addfile(tarfile.TarInfo(path.lstrip("/")))
    await write_archive(container, "/", buffer.getvalue())


def packed(files: Mapping[str, bytes], folder: str = "/") -> bytes:
    """An uncompressed archive of {absolute path: content} for a folder; all files can be executed.

    Raises:
        ExecutionError: a path is relative, leads upwards, or lies elsewhere.
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
    """The engine's answer to the question for a path, whose body may be left unread; None where there is nothing."""
    import aiodocker

    with engine_errors(f"reading {path} of a container"):
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
