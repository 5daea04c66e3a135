"""Which runs are being worked on, and by which process: from the kernel's list of locks.

A run's lock file is held by the process at work. Trying to take it would get in that process's way; the list
tells without touching it.
"""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from benchwright.errors import UserError

LOCKS = Path("/proc/locks")
LOCK = "lock"

_HELD = re.compile(r"^\d+: FLOCK +ADVISORY +WRITE +(\d+) +[0-9a-f]+:[0-9a-f]+:(\d+) ", re.MULTILINE)

Holders = dict[int, list[int]]
"""The processes that hold a lock, by the inode of the file; several file systems may have the same inode."""


def holders() -> Holders:
    """All locks of this machine that can be seen from here; none where the kernel has no such list."""
    try:
        text = LOCKS.read_text()
    except OSError:
        return {}
    found: Holders = {}
    for process, inode in _HELD.findall(text):
        found.setdefault(int(inode), []).append(int(process))
    return found


def worker_of(directory: Path, held: Holders) -> int | None:
    """The process that is at work on a run, None where there is none (or that cannot be seen)."""
    try:
        status = os.stat(directory / LOCK)
    except OSError:
        return None
    return next((process for process in held.get(status.st_ino, ()) if _has_open(process, status)), None)


def _has_open(process: int, status: os.stat_result) -> bool:
    try:
        with os.scandir(f"/proc/{process}/fd") as files:
            return any(_is_same(file.path, status) for file in files)
    except OSError:  # ended since, or another user's
        return False


def _is_same(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)
    except OSError:  # closed since, or no file
        return False


def interrupt(directory: Path) -> None:
    """Asks the process that works on a run to stop, as Ctrl-C does: what is in flight is finished and kept.

    Raises:
        UserError: nobody works on it, or the process is another user's.
    """
    process = worker_of(directory, holders())
    if process is None:
        raise UserError(f"{directory.name} is not running.")
    try:
        handle = os.pidfd_open(process)
    except OSError:
        raise UserError(f"{directory.name} has just ended.") from None
    try:
        if worker_of(directory, holders()) != process:  # the number may be another process's by now
            raise UserError(f"{directory.name} has just ended.")
        signal.pidfd_send_signal(handle, signal.SIGINT)
    except PermissionError:
        raise UserError(
            f"{directory.name} belongs to another user: it cannot be stopped from here."
        ) from None
    except ProcessLookupError:
        raise UserError(f"{directory.name} has just ended.") from None
    finally:
        os.close(handle)
