"""Which run belongs to a command that keeps no cache: the unfinished one of the same configuration, or a new one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from benchwright.errors import UserError
from benchwright.home import runs_directory
from benchwright.runs import store
from benchwright.runs.about import suite_of
from benchwright.runs.manifest import MANIFEST, read_manifest
from benchwright.text import Say

UNREPORTED = "unreported"
"""A file in the directory of a run whose result is not written yet."""


class RunShelf:
    """Finds the newest run with this fingerprint that is unfinished, or whose result is not written; with `finished`
    the newest at all, with `fresh` none. With `run`, it is that one and no other. In a `suite` only its own runs are
    looked at, and a finished one is not made again.
    """

    def __init__(
        self,
        fingerprint: str,
        *,
        fresh: bool = False,
        finished: bool = False,
        run: Path | None = None,
        suite: str | None = None,
    ) -> None:
        self._suite = suite
        self._run = run
        self._fingerprint = fingerprint
        self._fresh = fresh
        self._finished = finished or suite is not None

    @asynccontextmanager
    async def run_of(self, make: Callable[[], Path], say: Say) -> AsyncIterator[Path]:
        """See `prepared.Shelf.run_of`; held by one process at a time, so that none begins what another is at."""
        lock = runs_directory() / f".{self._fingerprint[:16]}.lock"
        async with store.file_lock(lock, say):
            yield self.find() or self._made(make)

    def _made(self, make: Callable[[], Path]) -> Path:
        directory = make()
        (directory / UNREPORTED).touch()
        return directory

    def find(self) -> Path | None:
        """The run to go on with, None where there is none.

        Raises:
            UserError: the run that was named is of another configuration by now: data, code or pack changed.
        """
        if self._run is not None:
            if read_manifest(self._run).fingerprint != self._fingerprint:
                raise UserError(
                    f"{self._run.name} cannot be resumed: its data, benchmark or pack has changed."
                )
            return self._run
        if self._fresh:
            return None
        names = runs_directory().glob(f"*-{self._fingerprint[:8]}*/{MANIFEST}")
        for directory in sorted((path.parent for path in names), reverse=True):
            if not self._finished and store.last_event(directory) == "finished" and is_reported(directory):
                continue
            try:
                manifest = read_manifest(directory)
            except UserError:
                continue
            if manifest.fingerprint == self._fingerprint and self._suite in (None, suite_of(manifest)):
                return directory
        return None


def is_reported(directory: Path) -> bool:
    """Whether the result of a finished run was written: it was killed in between where it was not."""
    return not (directory / UNREPORTED).exists()


def reported(directory: Path) -> None:
    """Notes that the result of a run is written."""
    (directory / UNREPORTED).unlink(missing_ok=True)


class NewRunShelf:
    """Every run is a new one: nothing is resumed."""

    @asynccontextmanager
    async def run_of(self, make: Callable[[], Path], say: Say) -> AsyncIterator[Path]:
        """See `prepared.Shelf.run_of`."""
        yield make()
