"""Reads and writes cache files. Corrupt files, and files replaced by `--fresh`, are renamed and kept."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

import msgspec

from benchwright.agents.cache.runs import DocumentedRun
from benchwright.errors import JournalError, UserError
from benchwright.files import atomic_file, write_atomically
from benchwright.records import DECODE_ERRORS
from benchwright.runs.journal import encode_json

CACHE_FORMAT_VERSION = 1

RUNS_HEADER = b'  "runs": [\n'
"""The line before the runs in a cache file."""

FILE_END = b"\n}\n"
"""The last bytes of a completely written cache file."""


TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"

COPY_CHUNK_BYTES = 2**20
"""Number of bytes of a cache file that are copied at once."""


class CacheMismatch(UserError, RuntimeError):
    """Raised for a cache file of a newer version or of another configuration. Such a file cannot be resumed."""


class UndecodedRun(msgspec.Struct, gc=False):
    """A run in a cache file, decoded without its fields, because only the number of runs is needed."""


class CacheEntry(msgspec.Struct):
    """A cache file without its runs.

    `run`: the directory of the run from whose journal the file was made. `simulated`: True if the answers are
    not from a model; otherwise the field is left out of the file.
    """

    version: int
    task_id: str
    config_hash: str
    status: str
    created_at: str
    updated_at: str
    config: dict[str, Any]
    runs: list[UndecodedRun] = []
    summary: dict[str, Any] | None = None
    run: str | None = None
    simulated: bool = False


def format_time(seconds: float | None = None) -> str:
    """Format a time as in cache files: UTC, whole seconds, Z. `seconds`: since 1970; None means now."""
    return datetime.fromtimestamp(time.time() if seconds is None else seconds, UTC).strftime(TIME_FORMAT)


def parse_created_at(entry: CacheEntry) -> int | None:
    """Return when an entry was created (wall clock, ns). Return None if its `created_at` is not a time."""
    try:
        return int(datetime.strptime(entry.created_at, TIME_FORMAT).replace(tzinfo=UTC).timestamp()) * 10**9
    except ValueError:
        return None


def new_entry(config: dict[str, Any], config_hash: str, task_id: str, run: Path) -> CacheEntry:
    """Return the entry for a run that is about to start."""
    now = format_time()
    return CacheEntry(
        CACHE_FORMAT_VERSION, task_id, config_hash, "in_progress", now, now, config, run=str(run)
    )


def unused_entry_path(directory: Path, task_id: str) -> Path:
    """Return an unused path for a new entry. The file name begins with the time, so that names sort by age."""
    stamp = int(time.time())
    while (path := directory / f"{stamp}_{task_id}.json").exists():
        stamp += 1
    return path


def entry_files(directory: Path, task_id: str = "") -> list[Path]:
    """Return the cache files in a directory, newest first.

    `task_id`: the task whose cache files are returned. If it is "", the files of all tasks are returned.
    """
    pattern = f"*_{task_id}.json" if task_id else "*_*.json"
    return sorted(directory.glob(pattern), key=age_sort_key, reverse=True)


def read_entry(path: Path) -> CacheEntry | None:
    """Read a cache file. Return None if the file cannot be read.

    Raises:
        CacheMismatch: If a newer version wrote the file.
    """
    try:
        data = path.read_bytes()
        version = msgspec.json.decode(data, type=_VersionOnly).version
        if version > CACHE_FORMAT_VERSION:
            raise CacheMismatch(
                f"Cache file created by a newer version of osmosis (v{version}). Upgrade osmosis or use --fresh."
            )
        return msgspec.json.decode(data, type=CacheEntry)
    except (OSError, *DECODE_ERRORS):
        return None


def read_runs(path: Path) -> list[DocumentedRun] | None:
    """Read the runs of a cache file. Return None if the file cannot be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_RunsOnly).runs
    except (OSError, *DECODE_ERRORS):
        return None


def read_entry_head(path: Path) -> CacheEntry | None:
    """Read a cache file without its runs and summary. Return None if the file cannot be read.

    Raises:
        CacheMismatch: If a newer version wrote the file.
    """
    try:
        with path.open("rb") as file:
            head = b"".join(takewhile(lambda line: line != RUNS_HEADER, file))
            file.seek(-len(FILE_END), os.SEEK_END)
            if file.read() != FILE_END:
                return read_entry(path)  # incomplete, or not written by `write_entry`
        entry = msgspec.json.decode(head + RUNS_HEADER + b"]}", type=CacheEntry)
    except (OSError, *DECODE_ERRORS):
        return read_entry(path)  # not written by `write_entry`
    return entry if entry.version <= CACHE_FORMAT_VERSION else read_entry(path)


class _VersionOnly(msgspec.Struct):
    version: int


class _RunsOnly(msgspec.Struct):
    runs: list[DocumentedRun]


def write_entry(path: Path, entry: CacheEntry, runs: Iterable[DocumentedRun] = ()) -> None:
    """Write a whole cache file, one run per line. The entry's summary may be set while the runs are iterated.

    Raises:
        JournalError: If the file cannot be written.
    """
    entry.updated_at = format_time()
    write_atomically(path, _pieces(entry, runs), durable=True, error=JournalError)


def add_runs(path: Path, entry: CacheEntry, runs: Iterable[DocumentedRun]) -> None:
    """Add runs to a cache file that has no summary yet, because the eval is in progress.

    `entry`: the entry with which `write_entry` wrote the file. The file is replaced as a whole. Its existing
    runs are copied as bytes. If there are no new runs, the file is left unchanged.

    Raises:
        JournalError: If the file cannot be read or written.
    """
    added = iter(runs)
    first = next(added, None)
    if first is None:
        return
    before, behind = len(_head(entry)), len(_tail(entry))
    entry.updated_at = format_time()
    try:
        with path.open("rb") as old, atomic_file(path, durable=True, error=JournalError) as new:
            end = old.seek(-behind, os.SEEK_END)
            old.seek(before)
            new.write(_head(entry))
            for start in range(before, end, COPY_CHUNK_BYTES):
                new.write(old.read(min(COPY_CHUNK_BYTES, end - start)))
            new.writelines(_run_lines(chain([first], added), first=end == before))
            new.write(_tail(entry))
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error.strerror}.") from None


def _pieces(entry: CacheEntry, runs: Iterable[DocumentedRun]) -> Iterator[bytes]:
    """Yield the JSON of the file: the fields before the runs, the runs, and the fields after the runs."""
    yield _head(entry)
    yield from _run_lines(runs)
    yield _tail(entry)


def _head(entry: CacheEntry) -> bytes:
    fields = msgspec.structs.asdict(entry)
    del fields["runs"], fields["summary"]
    if not entry.simulated:
        del fields["simulated"]
    head = msgspec.json.format(encode_json(fields), indent=2)
    return head.removesuffix(b"\n}") + b",\n" + RUNS_HEADER


def _run_lines(runs: Iterable[DocumentedRun], *, first: bool = True) -> Iterator[bytes]:
    for run in runs:
        yield (b"    " if first else b",\n    ") + encode_json(run)
        first = False


def _tail(entry: CacheEntry) -> bytes:
    return b'\n  ],\n  "summary": ' + encode_json(entry.summary) + FILE_END


def back_up_entry(path: Path) -> None:
    """Rename a cache file and its samples to `.backup.{time}`, because of `--fresh`. Never replace an older backup."""
    stamp = int(time.time())
    while path.with_name(f"{path.name}.backup.{stamp}").exists():
        stamp += 1
    _set_aside(path, f"backup.{stamp}")


def rename_corrupt_entry(path: Path) -> Path:
    """Rename an unreadable cache file and its samples. Return the new path of the cache file."""
    return _set_aside(path, f"corrupt.{int(time.time())}_{os.getpid()}")


def _set_aside(path: Path, suffix: str) -> Path:
    for file in (samples_path(path), path):
        with suppress(FileNotFoundError):
            file.rename(file.with_name(f"{file.name}.{suffix}"))
    return path.with_name(f"{path.name}.{suffix}")


def samples_path(path: Path) -> Path:
    """Return the path of the logged conversations (`--log-samples`) that belong to a cache file."""
    return path.with_suffix(".jsonl")


def age_sort_key(path: Path) -> tuple[int, str]:
    """Return a key that sorts cache files from oldest to newest, by the time in the files' names."""
    stamp = path.name.partition("_")[0]
    return (int(stamp) if stamp.isdigit() else 0, path.name)
