"""Finds out which process works on a run, from the kernel's list of file locks.

The process that works on a run holds the run's lock file. Trying to take the lock would disturb that process;
reading the list does not.
"""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from benchwright.errors import UserError

KERNEL_LOCKS_FILE = Path("/proc/locks")
LOCK_FILE = "lock"

_HELD = re.compile(r"^\d+: FLOCK +ADVISORY +WRITE +(\d+) +[0-9a-f]+:[0-9a-f]+:(\d+) ", re.MULTILINE)

LockHolders = dict[int, list[int]]
"""Mapping from the inode of a locked file to the ids of the processes that hold the lock.

Files of different file systems may share an inode.
"""


def can_find_workers() -> bool:
    """Return True if this system tells which process holds a file's lock, and gives handles on processes (Linux)."""
    return KERNEL_LOCKS_FILE.exists() and hasattr(os, "pidfd_open")


def lock_holders() -> LockHolders:
    """Return the visible file locks of this machine. Empty if the kernel has no such list."""
    try:
        text = KERNEL_LOCKS_FILE.read_text()
    except OSError:
        return {}
    found: LockHolders = {}
    for process, inode in _HELD.findall(text):
        found.setdefault(int(inode), []).append(int(process))
    return found


def locking_process(directory: Path, held: LockHolders) -> int | None:
    """Return the id of the process that works on a run. None if no process does, or if the process is not visible."""
    try:
        status = os.stat(directory / LOCK_FILE)
    except OSError:
        return None
    return next((process for process in held.get(status.st_ino, ()) if _has_open(process, status)), None)


def _has_open(process: int, status: os.stat_result) -> bool:
    try:
        with os.scandir(f"/proc/{process}/fd") as files:
            return any(_is_same(file.path, status) for file in files)
    except OSError:  # the process has ended, or belongs to another user
        return False


def _is_same(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)
    except OSError:  # it was closed meanwhile, or is not a file
        return False


def interrupt_run(directory: Path) -> None:
    """Ask the process that works on a run to stop, as Ctrl-C does: trials in flight are finished and kept.

    Raises:
        UserError: If no process works on the run, if the process belongs to another user, or if this system does
            not tell which process works on a run.
    """
    if not can_find_workers():
        raise UserError(
            f"This system does not tell which process works on {directory.name}: press Ctrl-C where it was started."
        )
    process = locking_process(directory, lock_holders())
    if process is None:
        raise UserError(f"{directory.name} is not running.")
    try:
        handle = os.pidfd_open(process)
    except OSError:
        raise UserError(f"{directory.name} has just ended.") from None
    try:
        if (
            locking_process(directory, lock_holders()) != process
        ):  # the kernel may have given the id to another process
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
