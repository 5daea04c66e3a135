"""The source files of an import: a digest that identifies earlier imports, and a check for changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import xxhash

from benchwright.interop.foreign_results import ForeignRun, UnreadableResults

MAX_SOURCE_FILES = 200_000

FileState = tuple[int, int, int]
"""State of a file: its size in bytes, and the times (ns) at which its content and its metadata last changed."""


class SourceFiles:
    """The files at and beside a path, in the state in which they were before any of them was read.

    A digest covers every file that a run is read from, not only the file that the user named. So a folder that
    was copied in two steps, or a file of samples that grew, counts as another import.
    """

    def __init__(self, path: Path) -> None:
        around = [path] if path.is_dir() else (one for one in path.parent.iterdir() if one.is_file())
        self._before = dict(_states(_files_of(around)))
        self._digests: dict[tuple[Path, ...], str] = {}

    def digest(self, run: ForeignRun) -> str:
        """Return a digest of the names and contents of the files from which a run is read. Links are left out.

        Names are relative to the run's folder, so that the digest does not change when the folder is moved.

        Raises:
            UnreadableResults: If a file cannot be read, or there are too many files.
        """
        known = tuple(run.sources)
        if known not in self._digests:
            base = run.path if run.path.is_dir() else run.path.parent
            self._digests[known] = _digest_of(_files_of(known), base)
        return self._digests[known]

    def check_unchanged(self, run: ForeignRun) -> None:
        """Check that the files of a run are unchanged since the import began.

        If a file had changed, the imported run might mix two states.

        Raises:
            UnreadableResults: If a file has changed, appeared or disappeared.
        """
        for file, state in _states(_files_of(run.sources)):
            if self._before.get(file) != state:
                raise UnreadableResults(
                    f"{file} changed while it was read: import it again once it is complete."
                )


def _files_of(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(one for one in path.rglob("*") if one.is_file() and not one.is_symlink())
        else:
            yield path


def _states(files: Iterable[Path]) -> Iterator[tuple[Path, FileState]]:
    for file in files:
        try:
            found = file.stat()
        except OSError:
            continue
        yield file, (found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _digest_of(files: Iterable[Path], base: Path) -> str:
    digest = xxhash.xxh3_128()
    for number, file in enumerate(files, 1):
        if number > MAX_SOURCE_FILES:
            raise UnreadableResults(
                f"{base} holds more than {MAX_SOURCE_FILES:,} files, which are the most that are read."
            )
        name = file.relative_to(base) if file.is_relative_to(base) else file.name
        digest.update(f"{name}\0".encode("utf-8", "surrogatepass"))
        try:
            with file.open("rb") as content:
                while block := content.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            raise UnreadableResults(f"{file} cannot be read: {error.strerror}.") from None
    return digest.hexdigest()
