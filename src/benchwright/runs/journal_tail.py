"""Reads the file of a journal as it grows, through one file descriptor."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from benchwright.errors import JournalError
from benchwright.records import DECODE_ERRORS, JournalLine
from benchwright.runs.journal import TRIALS_FILE, decode_line

BYTES_PER_READ = 2**17
"""Number of bytes that are read from the journal at a time."""

FIRST_READ_BYTES = 4096
"""Number of bytes of the first read when a single line is wanted. It is enough for most lines."""


class JournalTail:
    """Reads the lines that were added to a journal since the last read.

    `position`: number of bytes processed so far. It is always the beginning of a line.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / TRIALS_FILE
        self.position = 0
        self._descriptor: int | None = None

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. It is opened again for the next read."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor = None

    def file_size(self) -> int:
        """Return the present size of the file in bytes. 0 if the file does not exist."""
        return file_size(self.path)

    def read_line_batches(self) -> Iterator[list[bytes]]:
        """Yield lists of complete lines, without the newline at their end.

        Call `skip_line` for each line that was processed.

        Raises:
            JournalError: If the file cannot be read.
        """
        rest = b""
        while data := self._read(self.position + len(rest), BYTES_PER_READ):
            *lines, rest = (rest + data).split(b"\n")
            yield lines

    def skip_line(self, line: bytes) -> None:
        """Advance `position` past a line that was processed."""
        self.position += len(line) + 1

    def read_line_at(self, offset: int) -> JournalLine:
        """Read the record whose line begins at an offset.

        Raises:
            JournalError: If there is no record at this offset.
        """
        length = FIRST_READ_BYTES
        while b"\n" not in (data := self._read(offset, length)) and len(data) == length:
            length *= 8
        try:
            return decode_line(data.partition(b"\n")[0])
        except DECODE_ERRORS as error:
            raise JournalError(f"{self.path}: there is no record at byte {offset} ({error}).") from None

    def _read(self, offset: int, length: int) -> bytes:
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(self._descriptor, length, offset)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise JournalError(f"{self.path} cannot be read: {error.strerror}.") from None


def file_size(path: Path) -> int:
    """Return the size of a file in bytes. 0 if the file does not exist."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
