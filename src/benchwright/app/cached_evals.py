"""Lookup, listing and removal of cached evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from benchwright.agents.cache.entry import CacheEntry, CacheMismatch, entry_files, read_entry, samples_path
from benchwright.agents.cache.paths import cache_root
from benchwright.home import runs_directory
from benchwright.records import Record
from benchwright.runs.manifest import MANIFEST_FILE
from benchwright.runs.table import read_table
from benchwright.text import Say


class CachedEval(Record, frozen=True):
    """One line of `eval cache ls`. The names of model and dataset are those of the cache's directories."""

    task_id: str
    model: str
    dataset: str
    status: str
    runs: int
    created_at: str
    path: str


def cached_evals(
    say: Say, *, model: str = "", dataset: str = "", status: str = "", task_id: str = ""
) -> list[CachedEval]:
    """Return the cached evaluations that match all given filters, newest first.

    `model` and `dataset`: parts of a name, in any case. Both are looked for in the directory names and in the names
    that the user typed.
    """
    root = cache_root()
    found = []
    for directory in sorted(root.glob("*/*")) if root.is_dir() else ():
        names = directory.parent.name, directory.name
        for path in entry_files(directory):
            entry = _read(path, say)
            if entry is None or (status and entry.status != status):
                continue
            if task_id and entry.task_id != task_id:
                continue
            typed_model, typed_dataset = (str(entry.config.get(key, "")) for key in ("model", "dataset"))
            if not _names(model, names[0], typed_model):
                continue
            if not _names(dataset, names[1], Path(typed_dataset).name) and dataset != typed_dataset:
                continue
            runs = _count_runs(entry)
            found.append(CachedEval(entry.task_id, *names, entry.status, runs, entry.created_at, str(path)))
    return sorted(found, key=lambda one: (one.created_at, one.path), reverse=True)


def _names(part: str, *names: str) -> bool:
    """Return True if any of these names contains `part`, ignoring case."""
    return any(part.lower() in name.lower() for name in names)


def _read(path: Path, say: Say) -> CacheEntry | None:
    try:
        entry = read_entry(path)
    except CacheMismatch as error:
        say(f"Skipped {path}: {error}")
        return None
    if entry is None:
        say(f"Skipped {path}: it cannot be read.")
    return entry


def _count_runs(entry: CacheEntry) -> int:
    """Return the number of runs (trials) in a cache entry.

    While the entry is in progress, the runs are counted in the journal, because the cache file may lag behind.
    """
    run = run_of_entry(entry) if entry.status == "in_progress" else None
    return len(entry.runs) if run is None else len(read_table(run).counted_rows())


def run_of_entry(entry: CacheEntry) -> Path | None:
    """Return the run directory that belongs to a cache entry. None if the directory no longer exists.

    The directory is looked for at the recorded path, then in the current home directory.
    """
    if entry.run is None:
        return None
    written = Path(entry.run)
    places = (written, runs_directory() / written.name)
    return next((place for place in places if (place / MANIFEST_FILE).exists()), None)


def remove_cached_evals(evals: Sequence[CachedEval]) -> None:
    """Delete the cache files and samples files of evaluations. Keep the runs.

    Directories that become empty are deleted, too.
    """
    root = cache_root()
    for one in evals:
        path = Path(one.path)
        for file in (path, samples_path(path)):
            file.unlink(missing_ok=True)
        for directory in (path.parent, path.parent.parent):
            if directory != root:
                with suppress(OSError):
                    directory.rmdir()
