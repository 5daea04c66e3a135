"""The cached evaluations: found, listed and removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from benchwright.agents.cache.entry import NewerCache, entry_files, read_entry, samples_path
from benchwright.agents.cache.paths import cache_root
from benchwright.records import Record


class CachedEval(Record, frozen=True):
    """One line of `eval cache ls`: names of model and dataset are those of the cache's directories."""

    task_id: str
    model: str
    dataset: str
    status: str
    runs: int
    created_at: str
    path: str


def cached_evals(
    say: Callable[[str], None], *, model: str = "", dataset: str = "", status: str = "", task_id: str = ""
) -> list[CachedEval]:
    """The cached evaluations that fit, the newest first; `model` and `dataset` are parts of names, in any case."""
    root = cache_root()
    found = []
    for directory in sorted(root.glob("*/*")) if root.is_dir() else ():
        if model.lower() not in directory.parent.name or dataset.lower() not in directory.name:
            continue
        for path in entry_files(directory):
            with suppress(NewerCache):
                entry = read_entry(path, say)
                if entry is None or (status and entry.status != status):
                    continue
                if task_id and entry.task_id != task_id:
                    continue
                names = directory.parent.name, directory.name
                found.append(
                    CachedEval(
                        entry.task_id, *names, entry.status, len(entry.runs), entry.created_at, str(path)
                    )
                )
    return sorted(found, key=lambda one: (one.created_at, one.path), reverse=True)


def remove(evals: Sequence[CachedEval]) -> None:
    """Deletes the cache files and their samples, and the directories that are then empty; runs are kept."""
    root = cache_root()
    for one in evals:
        path = Path(one.path)
        for file in (path, samples_path(path)):
            file.unlink(missing_ok=True)
        for directory in (path.parent, path.parent.parent):
            if directory != root:
                with suppress(OSError):
                    directory.rmdir()
