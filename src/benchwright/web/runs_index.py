"""The list of all runs on this machine. It is kept in memory, and updated when the files of the runs change."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from msgspec.structs import replace

from benchwright.analysis.run_figures import RunFigures, cache_figures, cached_figures, files_stamp
from benchwright.analysis.run_list import RunRow, run_row_of, run_state_of, sort_rows
from benchwright.analysis.summary import summarise
from benchwright.errors import BenchwrightError, UserError
from benchwright.files import FileStamp
from benchwright.home import runs_directory
from benchwright.runs.journal_progress import JournalProgress
from benchwright.runs.locks import LockHolders, lock_holders, locking_process
from benchwright.runs.manifest import MANIFEST_FILE, Manifest, read_manifest
from benchwright.runs.table import RunTable
from benchwright.runs.tags_and_notes import read_note, read_tags, tags_and_note_stamp

MAX_READ_SECONDS = 0.1
"""Maximum seconds for which one update reads journals. The next update continues the reading."""

CACHE_SECONDS = 0.2
"""Seconds for which the result of an update is reused. So an update is not repeated for each window of the viewer."""


class _RunEntry:
    """The cached state of one run directory. `size`: the size of the run's journal in bytes."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.directory = directory
        self.manifest = manifest
        self.size = 0
        self._state = "unfinished"
        self._tags: list[str] = []
        self._note = ""
        self._worker: int | None = None
        self._progress = JournalProgress(directory)
        self._table: RunTable | None = None
        self._figures: RunFigures | None = None
        self._problem = ""
        self._looked_at: FileStamp = ()
        self._remarks: FileStamp = ()

    def look(self, held: LockHolders) -> None:
        """Read the files of the run that have changed."""
        self._worker = locking_process(self.directory, held)
        found = files_stamp(self.directory)
        if found != self._looked_at:
            self._looked_at = found
            self.size = found[0][0]
            self._state = run_state_of(self.directory)
            self._figures, self._problem = cached_figures(self.directory), ""
            if self.size < self._progress.bytes_read:
                self._progress = JournalProgress(self.directory)
            if self._table is not None and self.size < self._table.bytes_read:
                self._table = None
        remarks = tags_and_note_stamp(self.directory)
        if remarks != self._remarks:
            self._remarks = remarks
            self._tags, self._note = read_tags(self.directory), read_note(self.directory)

    @property
    def state(self) -> str:
        return "running" if self._worker is not None else self._state

    @property
    def is_read(self) -> bool:
        """True if nothing is left to read at the moment."""
        if self.state == "running":
            return self._progress.bytes_read >= self.size
        return self._figures is not None or bool(self._problem)

    def read(self, seconds: float) -> None:
        """Continue reading for `seconds`.

        For a running run, read the number of finished trials. For all other runs, read the figures.
        """
        try:
            if self.state == "running":
                self._progress.read_journal(seconds)
                return
            if self._table is None:
                self._table = RunTable(self.directory, [scorer.name for scorer in self.manifest.scorers])
            if self._table.read_journal(seconds):
                table, self._table = self._table, None
                self._figures = cache_figures(table, summarise(self.manifest, table))
        except BenchwrightError as error:
            self._table, self._problem = None, str(error)

    def row(self, now: int) -> RunRow:
        """Return the run's row in the list of runs, as far as it is known."""
        row = run_row_of(self.manifest, self.state, self._tags, self._note, self.size)
        if self.state == "running" and self._progress.bytes_read:
            return row.with_progress(self._progress, now)
        if self._figures is not None:
            return row.with_figures(self._figures)
        return replace(row, problem=self._problem)


class RunsIndex:
    """The index of all stored runs. Call its methods off the event loop."""

    def __init__(self) -> None:
        self._kept: dict[str, _RunEntry] = {}
        self._unreadable: dict[str, str] = {}
        self._lock = Lock()
        self._refreshed = -math.inf

    def rows(self) -> list[RunRow]:
        """Return all runs: running ones first, then the newest."""
        with self._lock:
            if time.monotonic() - self._refreshed > CACHE_SECONDS:
                self._refresh()
            now = time.time_ns()
            rows = [kept.row(now) for kept in self._kept.values()]
        return sort_running_first(sort_rows(rows, "newest"))

    def unreadable_run_messages(self) -> list[str]:
        """Return a sentence for each run that `rows` lacks because it cannot be read."""
        with self._lock:
            return list(self._unreadable.values())

    def row(self, run: str) -> RunRow:
        """Update the row of one run, and return the row.

        Raises:
            UserError: If there is no such run.
        """
        with self._lock:
            kept = self._find(run)
            kept.look(lock_holders())
            if not kept.is_read:
                kept.read(MAX_READ_SECONDS)
            return kept.row(time.time_ns())

    def directory(self, run: str) -> Path:
        """Return the directory of the run with this id.

        The id must be complete. Other names are never looked up on disk.

        Raises:
            UserError: If there is no such run.
        """
        with self._lock:
            return self._find(run).directory

    def manifest(self, run: str) -> Manifest:
        """Return the manifest of a run.

        Raises:
            UserError: If there is no such run.
        """
        with self._lock:
            return self._find(run).manifest

    def _find(self, run: str) -> _RunEntry:
        kept = self._kept.get(run)
        if kept is None or not (kept.directory / MANIFEST_FILE).exists():
            self._refresh()
            kept = self._kept.get(run)
        if kept is None:
            raise UserError(f"There is no run {run}.")
        return kept

    def _refresh(self) -> None:
        self._refreshed = time.monotonic()
        directory = runs_directory()
        try:
            with os.scandir(directory) as entries:
                names = {entry.name: entry.path for entry in entries if not entry.name.startswith(".")}
        except OSError:
            names = {}
        for gone in self._kept.keys() - names.keys():
            del self._kept[gone]
        held = lock_holders()
        self._unreadable.clear()
        for name, path in names.items():
            kept = self._kept.get(name) or self._begin(name, Path(path))
            if kept is not None:
                kept.look(held)
        self._read_on()

    def _read_on(self) -> None:
        """Read journals for up to `MAX_READ_SECONDS` seconds. Unfinished runs come first, then the newest runs."""
        end = time.monotonic() + MAX_READ_SECONDS
        left = [kept for kept in self._kept.values() if not kept.is_read]
        for kept in sorted(left, key=_counting_order):
            kept.read(max(0.0, end - time.monotonic()))
            if time.monotonic() >= end:
                break

    def _begin(self, name: str, directory: Path) -> _RunEntry | None:
        try:
            manifest = read_manifest(directory)
        except UserError as error:
            if (directory / MANIFEST_FILE).exists():  # otherwise partly deleted, being written, or not a run
                self._unreadable[name] = str(error)
            return None
        if manifest.id != name:  # copied or renamed: addresses contain the id
            return None
        kept = self._kept[name] = _RunEntry(directory, manifest)
        return kept


def _counting_order(kept: _RunEntry) -> tuple[bool, int]:
    return kept.state == "finished", -kept.manifest.created_at


def sort_running_first(rows: Sequence[RunRow]) -> list[RunRow]:
    """Return the rows with running runs first. Otherwise, their order does not change."""
    return sorted(rows, key=lambda row: row.state != "running")
