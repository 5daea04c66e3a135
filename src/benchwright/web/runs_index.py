"""All runs of this machine, kept in memory and looked at again as their files change."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from benchwright.errors import JournalError, UserError
from benchwright.home import runs_directory
from benchwright.records import Record, RunEvent
from benchwright.runs.journal import TRIALS
from benchwright.runs.listing import TAGS, models_of, read_tags
from benchwright.runs.manifest import MANIFEST, Manifest, planned_trials, read_manifest
from benchwright.runs.progress import Progress
from benchwright.runs.store import read_last_event
from benchwright.web.locks import Holders, holders, worker_of

COUNTING = 0.1
"""Seconds that one look at all runs, or at one, counts trials for; the next look goes on."""

FRESH = 0.2
"""Seconds for which a look at all runs serves every window."""

STATES = ("running", "finished", "stopped", "unfinished")


class RunRow(Record, frozen=True):
    """A run in the list. `done` is None while its journal is still being counted; seconds in `eta`.

    `total` is None where nobody knows: a level of load that goes on for a time. `failed` is how many trials had failed
    when the last session ended, 0 where that is not known.
    """

    id: str
    kind: str
    name: str
    models: list[str]
    state: str
    created_at: int
    tags: list[str]
    done: int | None
    total: int | None
    rate: float | None = None
    eta: float | None = None
    size: int = 0
    failed: int = 0

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        return min(1.0, self.done / self.total) if self.done and self.total else 0.0


class _RunEntry:
    """What is known of one run directory."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.directory = directory
        self.manifest = manifest
        self.models = models_of(manifest)
        self.event: RunEvent | None = None
        self.tags: list[str] = []
        self.worker: int | None = None
        self.progress = Progress(directory)
        self.size = 0
        self.is_counted = False
        self._journal: tuple[int, int] = (-1, 0)
        self._tagged: tuple[int, int] = (-1, 0)

    def look(self, held: Holders) -> None:
        """Reads again what has changed."""
        self.worker = worker_of(self.directory, held)
        journal = _stamp(self.directory / TRIALS)
        if journal != self._journal:
            if journal[0] < self.progress.position:
                self.progress = Progress(self.directory)
                self.is_counted = False
            self._journal, self.size = journal, max(0, journal[0])
            self.event = read_last_event(self.directory)
        tagged = _stamp(self.directory / TAGS)
        if tagged != self._tagged:
            self._tagged = tagged
            self.tags = read_tags(self.directory)

    @property
    def state(self) -> str:
        if self.worker is not None:
            return "running"
        name = None if self.event is None else self.event.name
        return name if name in ("finished", "stopped") else "unfinished"

    def count(self, seconds: float) -> None:
        """Counts on what the journal has grown by."""
        if self.progress.position < self.size:
            with suppress(JournalError):
                self.is_counted = self.progress.advance(seconds)

    def row(self, now: int) -> RunRow:
        manifest, progress, state = self.manifest, self.progress, self.state
        done = progress.done if self.is_counted or not self.size else None
        total = progress.planned if progress.sessions.started_at else _planned(manifest)
        if state == "finished" and total is None:
            total = done
        running = state == "running"
        return RunRow(
            id=manifest.id,
            kind=manifest.kind,
            name=manifest.name,
            models=self.models,
            state=state,
            created_at=manifest.created_at,
            tags=self.tags,
            done=done,
            total=total,
            rate=progress.rate(now) if running else None,
            eta=progress.seconds_left(now) if running else None,
            size=self.size,
            failed=0 if self.event is None else self.event.detail.get("failed", 0),
        )


def _planned(manifest: Manifest) -> int | None:
    """Trials of a run that was not begun; a level of load goes round its prompts, however many they are."""
    if "load" in manifest.about:
        return None
    return planned_trials(manifest) or None


class RunsIndex:
    """The runs in the store. Call it off the event loop."""

    def __init__(self) -> None:
        self._kept: dict[str, _RunEntry] = {}
        self._unreadable: dict[str, str] = {}
        self._lock = Lock()
        self._refreshed = -math.inf

    def rows(self) -> list[RunRow]:
        """All runs: those that run first, then the newest."""
        with self._lock:
            if time.monotonic() - self._refreshed > FRESH:
                self._refresh()
            now = time.time_ns()
            rows = [kept.row(now) for kept in self._kept.values()]
        return sorted(rows, key=lambda row: (row.state != "running", -row.created_at))

    def unreadable(self) -> list[str]:
        """Why runs that `rows` left out cannot be read, a sentence each."""
        with self._lock:
            return list(self._unreadable.values())

    def row(self, run: str) -> RunRow:
        """One run, looked at just now.

        Raises:
            UserError: there is no such run.
        """
        with self._lock:
            kept = self._find(run)
            kept.look(holders())
            kept.count(COUNTING)
            return kept.row(time.time_ns())

    def directory(self, run: str) -> Path:
        """Where a run is, by its whole id: nothing else is looked up on the disk.

        Raises:
            UserError: there is no such run.
        """
        with self._lock:
            return self._find(run).directory

    def manifest(self, run: str) -> Manifest:
        """What a run is.

        Raises:
            UserError: there is no such run.
        """
        with self._lock:
            return self._find(run).manifest

    def _find(self, run: str) -> _RunEntry:
        kept = self._kept.get(run)
        if kept is None or not (kept.directory / MANIFEST).exists():
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
        held = holders()
        self._unreadable.clear()
        for name, path in names.items():
            kept = self._kept.get(name) or self._begin(name, Path(path))
            if kept is not None:
                kept.look(held)
        self._count()

    def _count(self) -> None:
        """Counts on for a moment: those that are not finished first, then the newest."""
        end = time.monotonic() + COUNTING
        for kept in sorted(self._kept.values(), key=_counting_order):
            kept.count(max(0.0, end - time.monotonic()))
            if time.monotonic() >= end:
                break

    def _begin(self, name: str, directory: Path) -> _RunEntry | None:
        try:
            manifest = read_manifest(directory)
        except UserError as error:
            if (directory / MANIFEST).exists():  # else deleted half-way, being written, or no run
                self._unreadable[name] = str(error)
            return None
        if manifest.id != name:  # copied or renamed: addresses are made of ids
            return None
        kept = self._kept[name] = _RunEntry(directory, manifest)
        return kept


def _counting_order(kept: _RunEntry) -> tuple[bool, int]:
    return kept.state == "finished", -kept.manifest.created_at


def _stamp(path: Path) -> tuple[int, int]:
    """(size, time of change), (-1, 0) of a file that is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return -1, 0
    return status.st_size, status.st_mtime_ns


def filtered(rows: Sequence[RunRow], words: str = "", kind: str = "", state: str = "") -> list[RunRow]:
    """The rows that have all of the words in id, name, model or tags, and are of this kind and state."""
    wanted = words.lower().split()
    return [
        row
        for row in rows
        if kind in ("", row.kind)
        and state in ("", row.state)
        and all(word in " ".join((row.id, row.name, *row.models, *row.tags)).lower() for word in wanted)
    ]


ORDERS: dict[str, Callable[[RunRow], Any]] = {
    "newest": lambda row: -row.created_at,
    "oldest": lambda row: row.created_at,
    "name": lambda row: (row.name.lower(), -row.created_at),
    "model": lambda row: ([model.lower() for model in row.models], -row.created_at),
    "state": lambda row: (STATES.index(row.state), -row.created_at),
    "size": lambda row: (-(row.total or 0), -row.created_at),
}


def ordered(rows: Sequence[RunRow], order: str) -> list[RunRow]:
    """The rows in an order of ORDERS; those that run stay on top."""
    key = ORDERS.get(order, ORDERS["newest"])
    return sorted(rows, key=lambda row: (row.state != "running", key(row)))
