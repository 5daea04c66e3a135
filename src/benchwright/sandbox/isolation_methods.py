"""The methods of isolating a program on this machine, strongest first: bubblewrap, namespaces, limits."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from benchwright.errors import ExecutionError, UserError
from benchwright.python_commands import interpreter_path
from benchwright.records import Record
from benchwright.sandbox.launch import Isolation, start_program
from benchwright.sandbox.limits import Limits
from benchwright.sandbox.supervision import supervision_failure
from benchwright.sandbox.users import TemporaryUserIds

ISOLATION_METHOD_NAMES = ("bubblewrap", "namespaces", "limits")

_WALLED = (
    "own file system (system and Python read-only, nothing of the user's), own processes, no network, "
    "bounded scratch space"
)
_PLAIN = (
    "WEAK: no file system or processes of its own; it can read what {reader} can read, and fill the disk; "
    "limits and a filter of system calls hold, which also denies it network"
)
_PROBE = b"import os, calendar; os.waitpid(os.fork() or os._exit(0), 0)"


class IsolationMethod(Record, frozen=True):
    """One method of isolating a program. `description`: what it prevents, as text for people and manifests."""

    name: str
    description: str


def choose_isolation_method(name: str = "auto") -> IsolationMethod:
    """Return the named protection. For "auto", return the strongest protection that works on this machine.

    Each protection is tested by running a small program.

    Raises:
        UserError: If the named protection does not work here, or if none does. The message has the reasons.
    """
    if name != "auto":
        if failure := _failure(name):
            raise UserError(f"the sandbox protection {name!r} does not work here: {failure}")
        return find_isolation_method(name)
    if failure := supervision_failure():
        raise UserError(
            f"model-written code only runs in a sandbox, and none works on this machine: {failure}"
        )
    failures = {}
    for candidate in ISOLATION_METHOD_NAMES:
        failure = _failure(candidate)
        if failure is None:
            return find_isolation_method(candidate)
        failures[candidate] = failure
    said = "; ".join(f"{candidate}: {failure}" for candidate, failure in failures.items())
    raise UserError(f"no sandbox works on this machine, and model-written code only runs in one ({said})")


def find_isolation_method(name: str) -> IsolationMethod:
    """Return the protection with this name, whether it works on this machine or not."""
    root = os.geteuid() == 0
    user = "a user of its own" if root else "the same user"
    if name == "limits":
        reader = "everybody" if root else "you"
        return IsolationMethod(name, f"limits only, {user}; {_PLAIN.format(reader=reader)}")
    return IsolationMethod(name, f"{name}, {user}: {_WALLED}, a filter of system calls, and limits")


@cache
def _failure(name: str) -> str | None:
    """Return why this protection does not work on this machine. Return None if it works."""
    if failure := supervision_failure():
        return failure
    if name not in ISOLATION_METHOD_NAMES:
        return f"unknown name; choose from {', '.join(ISOLATION_METHOD_NAMES)}"
    if name == "bubblewrap" and shutil.which("bwrap") is None:
        return "the program 'bwrap' is not installed (Debian package: bubblewrap)"
    if name == "limits" and (closed := _closed_to_others(interpreter_path())):
        return f"the program runs as another user, who cannot enter {closed}, where this Python lies"
    with ThreadPoolExecutor(1) as pool:  # in a thread, because an event loop may be running here
        return pool.submit(asyncio.run, _try(name)).result()


def _closed_to_others(path: str) -> str | None:
    """Return the outermost folder above the path that other users cannot enter. Return None if there is none.

    Return None, too, if this process is not root. Then the program runs as the same user.
    """
    if os.geteuid() != 0:
        return None
    closed = [str(folder) for folder in Path(path).parents if not folder.stat().st_mode & stat.S_IXOTH]
    return closed[-1] if closed else None


async def _try(name: str) -> str | None:
    from benchwright.sandbox.inside import supervisor  # noqa: F401 -- compiles it once for all sandboxes

    limits, users = Limits(), TemporaryUserIds()
    cell = Isolation(name, users.acquire(), limits)
    try:
        async with start_program(cell, {"program": _PROBE}, {}, stdin=False) as running:
            ending = await running.wait_for_end(limits.wall_seconds)
    except ExecutionError as error:
        return str(error)
    return None if ending.get("passed") else ending.get("told") or str(ending["reason"])
