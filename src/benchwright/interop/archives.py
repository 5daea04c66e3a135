"""Reads the members of a zip archive.

Members may be compressed by Zstandard, which Python supports only from 3.14 on.
"""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from types import TracebackType
from typing import IO

from benchwright.interop.foreign_results import UnreadableResults
from benchwright.optional_libraries import importing

ZSTANDARD_METHOD = 93
"""The zip format's number for the compression method Zstandard."""

MAX_MEMBER_BYTES = 512 << 20
"""Maximum number of bytes of an unpacked member."""

_LOCAL_HEADER = 30


class Archive:
    """An open archive. Nothing is unpacked to disk.

    Raises:
        UnreadableResults: If the file cannot be read, or is not a zip archive.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file: IO[bytes] = path.open("rb")
        except OSError as error:
            raise UnreadableResults(f"{path} cannot be read: {error.strerror}.") from None
        try:
            self._zip = zipfile.ZipFile(self._file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            self._file.close()
            raise UnreadableResults(f"{path} is not a zip archive, or is cut short ({error}).") from None
        self.names = [one.filename for one in self._zip.infolist()]

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._zip.close()
        self._file.close()

    def read_member(self, name: str) -> bytes:
        """Return the unpacked content of a member.

        Raises:
            UnreadableResults: If the member does not exist, is too large or damaged, or its decompressor is
                not installed.
        """
        where = f"{self.path}, {name}"
        try:
            member = self._zip.getinfo(name)
            if member.file_size > MAX_MEMBER_BYTES:
                raise UnreadableResults(
                    f"{where}: it has {member.file_size:,} bytes; at most {MAX_MEMBER_BYTES:,} are read."
                )
            if member.compress_type != ZSTANDARD_METHOD:
                with self._zip.open(member) as file:
                    return _whole(file, where)
            return self._read_zstandard(member, where)
        except KeyError:
            raise UnreadableResults(f"{where}: it is not there.") from None
        except (
            zipfile.BadZipFile,
            ValueError,
            NotImplementedError,
            RuntimeError,
            EOFError,
            OSError,
        ) as error:
            raise UnreadableResults(f"{where}: it cannot be unpacked ({error}).") from None
        except Exception as error:
            if type(error).__module__ == "zlib":
                raise UnreadableResults(f"{where}: it cannot be unpacked ({error}).") from None
            raise

    def _read_zstandard(self, member: zipfile.ZipInfo, where: str) -> bytes:
        use = f"{where}: it is compressed by Zstandard, which needs"
        with importing("pyarrow", use, "parquet", UnreadableResults):
            import pyarrow
        self._file.seek(member.header_offset)
        header = self._file.read(_LOCAL_HEADER)
        if len(header) < _LOCAL_HEADER:
            raise UnreadableResults(f"{where}: the archive is cut short.")
        name, extra = struct.unpack("<HH", header[-4:])
        self._file.seek(name + extra, 1)
        packed = pyarrow.BufferReader(self._file.read(member.compress_size))
        with pyarrow.input_stream(packed, compression="zstd") as file:
            return _whole(file, where)


def _whole(file: IO[bytes], where: str) -> bytes:
    content = file.read(MAX_MEMBER_BYTES + 1)
    if len(content) > MAX_MEMBER_BYTES:
        raise UnreadableResults(
            f"{where}: it has more bytes than it says; at most {MAX_MEMBER_BYTES:,} are read."
        )
    return content
