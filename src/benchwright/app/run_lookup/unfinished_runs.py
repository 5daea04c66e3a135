"""Run lookup of commands without a cache: the unfinished run of the same configuration, or a new one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from benchwright.errors import UserError
from benchwright.home import runs_directory
from benchwright.runs import store
from benchwright.runs.manifest import MANIFEST_FILE, read_manifest
from benchwright.runs.manifest_facts import suite_of
from benchwright.text import Say

UNREPORTED_MARKER = "unreported"
"""Name of a marker file in a run's directory. It exists until the result of the run has been written."""


class UnfinishedRunLookup:
    """Run lookup: finds the newest run with this fingerprint that is unfinished, or whose result is not written yet.

    `finished`: also accept finished runs. `fresh`: always make a new run. `run`: use this run and no other run.
    `suite`: use only runs of this suite, including finished runs.
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
    async def open_run(self, make: Callable[[], Path], say: Say) -> AsyncIterator[Path]:
        """Find or make the run, and yield its directory; see `RunLookup.run_of`.

        A lock file keeps two processes from starting the same run.
        """
        lock = runs_directory() / f".{self._fingerprint[:16]}.lock"
        async with store.file_lock(lock, say):
            yield self.find_unfinished() or self._made(make)

    def _made(self, make: Callable[[], Path]) -> Path:
        directory = make()
        (directory / UNREPORTED_MARKER).touch()
        return directory

    def find_unfinished(self) -> Path | None:
        """Return the run to continue. Return None if a new run is to be made.

        Raises:
            UserError: If the run was named by the user, and its data, code or pack has changed since.
        """
        if self._run is not None:
            check_resumable(self._run, self._fingerprint)
            return self._run
        if self._fresh:
            return None
        names = runs_directory().glob(f"*-{self._fingerprint[:8]}*/{MANIFEST_FILE}")
        for directory in sorted((path.parent for path in names), reverse=True):
            if (
                not self._finished
                and store.last_event_name(directory) == "finished"
                and is_reported(directory)
            ):
                continue
            try:
                manifest = read_manifest(directory)
            except UserError:
                continue
            if manifest.fingerprint == self._fingerprint and self._suite in (None, suite_of(manifest)):
                return directory
        return None


def check_resumable(run: Path, fingerprint: str) -> None:
    """Check that a run that the user named has the fingerprint of the run that is to be continued.

    Raises:
        UserError: If it has another one: its data, code or pack has changed, or the rules of this version are others.
    """
    if read_manifest(run).fingerprint != fingerprint:
        raise UserError(
            f"{run.name} cannot be resumed: its data, benchmark or pack has changed, or another "
            "version of Benchwright began it by other rules. `show` reads it; run it anew to finish it."
        )


def is_reported(directory: Path) -> bool:
    """Return True if the result of a finished run was written.

    The result is missing if the process was killed before it was written.
    """
    return not (directory / UNREPORTED_MARKER).exists()


def mark_reported(directory: Path) -> None:
    """Record that the result of a run is written."""
    (directory / UNREPORTED_MARKER).unlink(missing_ok=True)
