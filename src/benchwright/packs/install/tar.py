"""Reads a .tar.gz as a stream of entries. Every step has a limit, and no value in the archive is trusted.

The format is POSIX.1-2001 (pax) and GNU tar. The standard library parses only the fixed headers. Its reader
is not used, because it takes a broken header in the middle of an archive for the archive's end, and keeps
extended headers of any size in memory.
"""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from benchwright.packs.install.settings import CHUNK_BYTES, ArchiveError, InstallLimits
from benchwright.records import Record

BLOCK_BYTES = 512
MAX_EXTENDED_HEADER_BYTES = 64 * 1024

_PAX, _PAX_GLOBAL, _LONG_NAME, _LONG_LINK = b"x", b"g", b"L", b"K"


class TarEntry(Record, frozen=True):
    """An entry of an archive, as its headers describe it. `kind`: file, directory, symlink or hardlink."""

    name: str
    kind: str
    size: int
    is_executable: bool
    link_target: str


_KINDS = {
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
    tarfile.CONTTYPE: "file",
    tarfile.DIRTYPE: "directory",
    tarfile.SYMTYPE: "symlink",
    tarfile.LNKTYPE: "hardlink",
}

_REFUSED = {
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
    tarfile.GNUTYPE_SPARSE: "a sparse file",
}


class TarReader:
    """Reads the entries of one archive, in order.

    After each entry, `chunks` yields the entry's content.
    """

    def __init__(self, file: BinaryIO, limits: InstallLimits) -> None:
        self._compressed = file
        self._plain = gzip.GzipFile(fileobj=file, mode="rb")
        self._limits = limits
        self._unpacked = 0
        self._left = 0
        self._padding = 0

    def entries(self) -> Iterator[TarEntry]:
        """Yield all entries. Content that is not read is skipped.

        Raises:
            ArchiveError: If the archive is broken, truncated, or exceeds a limit.
        """
        count = 0
        extended: dict[str, str] = {}
        while (header := self._header()) is not None:
            count += 1
            if count > self._limits.max_entries:
                raise ArchiveError(f"the archive has more than {self._limits.max_entries:,} entries")
            if header.type in (_PAX, _LONG_NAME, _LONG_LINK):
                extended |= self._extended(header)
            elif header.type != _PAX_GLOBAL:
                entry = _entry(header, extended)
                extended = {}
                self._begin(entry.size)
                yield entry
            else:
                self._begin(header.size)
            for _ in self.chunks():
                pass
            self._read(self._padding)
        while self._piece(
            CHUNK_BYTES
        ):  # read to the end: a truncated archive is detected by its missing checksum
            pass

    def chunks(self) -> Iterator[bytes]:
        """Yield the content of the current entry that has not been read yet."""
        while self._left:
            piece = self._piece(min(self._left, CHUNK_BYTES))
            if not piece:
                raise ArchiveError("the archive ends in the middle of a file")
            self._left -= len(piece)
            yield piece

    def _begin(self, size: int) -> None:
        self._left = size
        self._padding = -size % BLOCK_BYTES

    def _header(self) -> tarfile.TarInfo | None:
        block = self._read(BLOCK_BYTES)
        if block == bytes(BLOCK_BYTES):
            return None
        try:
            header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except (tarfile.TarError, ValueError) as error:
            raise ArchiveError(f"the archive is not a valid tar file ({error})") from None
        if header.size < 0:
            raise ArchiveError("the archive is not a valid tar file (a negative size)")
        return header

    def _extended(self, header: tarfile.TarInfo) -> dict[str, str]:
        """Return the fields of an extended header under their pax names. They describe the entry after the header."""
        if header.size > MAX_EXTENDED_HEADER_BYTES:
            raise ArchiveError(f"the archive has a header of more than {MAX_EXTENDED_HEADER_BYTES:,} bytes")
        self._begin(header.size)
        content = b"".join(self.chunks())
        try:
            if header.type == _PAX:
                return _pax_records(content)
            name = "path" if header.type == _LONG_NAME else "linkpath"
            return {name: content.split(b"\0", 1)[0].decode()}
        except ValueError:
            raise ArchiveError("the archive has an extended header that cannot be read") from None

    def _read(self, size: int) -> bytes:
        """Read exactly `size` bytes."""
        parts = []
        while size:
            piece = self._piece(size)
            if not piece:
                raise ArchiveError("the archive ends too early")
            size -= len(piece)
            parts.append(piece)
        return b"".join(parts)

    def _piece(self, size: int) -> bytes:
        """Read and count at most `size` unpacked bytes. Return b"" at the end of the archive."""
        try:
            piece = self._plain.read1(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ArchiveError(f"the archive is not a complete .tar.gz file ({error})") from None
        self._unpacked += len(piece)
        limits = self._limits
        if self._unpacked > limits.total_bytes:
            raise ArchiveError(f"the archive unpacks to more than {limits.total_bytes:,} bytes")
        if self._unpacked > max(
            limits.ratio_limit_min_bytes, limits.max_compression_ratio * self._compressed.tell()
        ):
            raise ArchiveError(
                f"the archive unpacks to more than {limits.max_compression_ratio} times its size"
            )
        return piece


def _entry(header: tarfile.TarInfo, extended: dict[str, str]) -> TarEntry:
    name = extended.get("path", header.name)
    if any(key.startswith("GNU.sparse") for key in extended) or header.type not in _KINDS:
        what = _REFUSED.get(header.type, "not a file, directory or link")
        raise ArchiveError(f"{name!r} in the archive is {what}")
    kind = _KINDS[header.type]
    size = int(extended.get("size", header.size)) if kind == "file" else 0
    if kind != "file" and header.size:
        raise ArchiveError(f"{name!r} in the archive is a {kind} with content")
    target = extended.get("linkpath", header.linkname) if kind.endswith("link") else ""
    return TarEntry(name, kind, size, bool(header.mode & 0o100), target)


def _pax_records(content: bytes) -> dict[str, str]:
    r"""Parse the records `length key=value\n` of a pax header.

    Raises:
        ValueError: If the records are malformed.
    """
    records = {}
    while content:
        digits, separator, _ = content.partition(b" ")
        length = int(digits) if digits.isdigit() else 0
        record = content[:length]
        if not separator or length <= len(digits) + 1 or len(record) != length or record[-1:] != b"\n":
            raise ValueError("malformed")
        key, equals, value = record[len(digits) + 1 : -1].partition(b"=")
        if not equals:
            raise ValueError("malformed")
        if key in (b"path", b"linkpath", b"size") or key.startswith(b"GNU.sparse"):
            records[key.decode()] = value.decode()
        if key == b"size" and not value.isdigit():
            raise ValueError("malformed")
        content = content[length:]
    return records
