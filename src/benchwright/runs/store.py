"""The store of runs: one directory per run under $BENCHWRIGHT_HOME/runs."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.errors import JournalError, RunLocked, UserError
from benchwright.home import runs_directory
from benchwright.records import DECODE_ERRORS, RunEvent
from benchwright.runs.journal import TRIALS_FILE, decode_line
from benchwright.runs.manifest import MANIFEST_FILE
from benchwright.suggestions import did_you_mean
from benchwright.text import Say
from benchwright.user_paths import expand_user_path

if TYPE_CHECKING:
    from filelock import BaseFileLock

MAX_NAME_LENGTH = 52
"""Maximum number of characters of a run's name in its id. A longer name is cut."""

DEFAULT_LOCK_TIMEOUT = 30
LOCK_POLL_SECONDS = 0.2
"""`DEFAULT_LOCK_TIMEOUT`: number of seconds to wait for a lock that another process holds, by default.

`LOCK_POLL_SECONDS`: number of seconds between two attempts to take this lock.
"""


def run_id(name: str, fingerprint: str, created_at: int) -> str:
    """Return the id of a new run: its creation time, its name, and the beginning of its fingerprint."""
    moment = datetime.fromtimestamp(created_at / 1e9, UTC).strftime("%Y%m%dT%H%M%S")
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:MAX_NAME_LENGTH] or "run"
    return f"{moment}-{slug}-{fingerprint[:8]}"


def new_run_directory(name: str, fingerprint: str, created_at: int) -> Path:
    """Return a run directory that does not exist yet.

    Equal runs that begin in the same second get different names.

    Raises:
        JournalError: If too many such directories exist.
    """
    identity = run_id(name, fingerprint, created_at)
    for suffix in ("", *(f"-{number}" for number in range(2, 1000))):
        path = runs_directory() / f"{identity}{suffix}"
        if not path.exists():
            return path
    raise JournalError(f"There are too many runs named {identity}; wait a second.")


def find_run(reference: str) -> Path:
    """Return the directory of a run. `reference`: its id, a unique beginning or part of the id, or its path.

    Raises:
        UserError: If no run matches, or several do.
    """
    path = expand_user_path(reference)
    if (path / MANIFEST_FILE).exists():
        return path
    directory, names = runs_directory(), run_names()
    if reference in names:
        return directory / reference
    fitting = [name for name in names if name.startswith(reference)] or [
        name for name in names if reference in name
    ]
    if len(fitting) == 1:
        return directory / fitting[0]
    if fitting:
        shown = ", ".join(fitting[-3:])
        raise UserError(
            f"Several runs match {reference!r} ({len(fitting)}), the newest: {shown}. Give a longer part of the id."
        )
    raise UserError(f"There is no run {reference!r} in {directory}.{did_you_mean(reference, names)}")


def run_names() -> list[str]:
    """Return the ids of all runs in the store, sorted."""
    return sorted(path.parent.name for path in runs_directory().glob(f"*/{MANIFEST_FILE}"))


def last_event_name(directory: Path) -> str | None:
    """Return the name of the last event in a run's journal (`finished`, `stopped`, `started`).

    Return None if there is no event.
    """
    event = read_last_event(directory)
    return None if event is None else event.name


def read_last_event(directory: Path) -> RunEvent | None:
    """Return the last event in a run's journal.

    Return None if there is no event near the end of the journal, or if the journal cannot be read.
    """
    path = directory / TRIALS_FILE
    if not path.exists():
        return None
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 65_536))
        tail = file.read()
    lines = re.findall(rb'^\{"type":"event",.*$', tail, re.MULTILINE)
    try:
        event = decode_line(lines[-1]) if lines else None
    except DECODE_ERRORS:
        return None
    return event if isinstance(event, RunEvent) else None


def run_lock(directory: Path, say: Say) -> AbstractAsyncContextManager[None]:
    """Hold the lock of a run for this process while the context is open; see `file_lock`."""
    return file_lock(directory / "lock", say)


@asynccontextmanager
async def file_lock(path: Path, say: Say) -> AsyncIterator[None]:
    """Hold a lock file for this process while the context is open.

    If another process holds it, wait, and report the wait through `say`. The wait ends after
    OSMOSIS_EVAL_LOCK_TIMEOUT seconds (default 30).

    Raises:
        RunLocked: If the other process did not end in time.
        JournalError: If the directory cannot be written.
    """
    from filelock import FileLock

    limit = _lock_timeout(os.environ.get("OSMOSIS_EVAL_LOCK_TIMEOUT"), say)
    with _writing_to(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    if not _acquired(lock):
        say(f"Another process is working on this run; waiting up to {limit} s for it to end.")
        end = time.monotonic() + limit
        while not _acquired(lock):
            if time.monotonic() >= end:
                raise RunLocked(
                    f"Another eval with the same config is already running (lock: {lock.lock_file}, "
                    f"waited {limit} s). Wait for it, or set OSMOSIS_EVAL_LOCK_TIMEOUT to wait longer."
                )
            await asyncio.sleep(LOCK_POLL_SECONDS)
    try:
        yield
    finally:
        lock.release()


def _acquired(lock: BaseFileLock) -> bool:
    from filelock import Timeout

    with _writing_to(Path(lock.lock_file).parent):
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
    return True


@contextmanager
def _writing_to(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise JournalError(f"Cannot write the run to {directory}: {error.strerror}.") from None


@cache
def _lock_timeout(value: str | None, say: Say) -> int:
    """Return the number of seconds to wait for a lock. An invalid value is reported only once per process."""
    if not value:
        return DEFAULT_LOCK_TIMEOUT
    if value.isdigit() and int(value) > 0:
        return int(value)
    say(f"OSMOSIS_EVAL_LOCK_TIMEOUT={value!r} is not a number of seconds; using {DEFAULT_LOCK_TIMEOUT}.")
    return DEFAULT_LOCK_TIMEOUT


def now_ns() -> int:
    """Return the wall-clock time in ns since the epoch."""
    return time.time_ns()
