"""Ends what a program has started, wherever it went: found by its parents, or by a mark in its environment.

Needs Linux's /proc, and the standard library alone: it is also run as text, by processes that have nothing else.
Where there is no /proc nothing is found and nothing is ended.
"""

import ctypes
import os
import signal
import time
from collections.abc import Callable

MARK = "BENCHWRIGHT_PROCESS"
"""The variable that marks what an agent starts; its value is one of a trial."""

ROUNDS = 200
ROUND_SECONDS = 0.02
"""How often, and how long, it is waited for killed processes to be gone: four seconds in all."""

_SET_CHILD_SUBREAPER = 36

Process = tuple[int, str]
"""A process that cannot be mistaken for a later one: its number, and when it was started."""


def become_reaper() -> None:
    """Become the parent of every descendant whose own parent ends (prctl(2), PR_SET_CHILD_SUBREAPER)."""
    try:
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def descendants() -> dict[Process, str]:
    """Return the names of all processes below this one that have not ended."""
    children: dict[int, list[int]] = {}
    found: dict[int, tuple[Process, str, str]] = {}
    for pid in _pids():
        read = _read_stat(pid)
        if read is not None:
            name, state, parent, started = read
            children.setdefault(parent, []).append(pid)
            found[pid] = (pid, started), name, state
    below: dict[Process, str] = {}
    ahead = [os.getpid()]
    while ahead:
        for pid in children.get(ahead.pop(), ()):
            process, name, state = found[pid]
            ahead.append(pid)
            if state not in "ZX":
                below[process] = name
    return below


def marked(mark: str) -> dict[Process, str]:
    """Return the names of all processes with this value of `MARK` in the environment that they were started with."""
    wanted = f"{MARK}={mark}".encode()
    found: dict[Process, str] = {}
    for pid in _pids():
        read = _read_stat(pid)
        if read is not None and read[1] not in "ZX" and wanted in _environment(pid) and pid != os.getpid():
            found[pid, read[3]] = read[0]
    return found


def end_all(find: Callable[[], dict[Process, str]]) -> list[str]:
    """Kill all processes that `find` returns until there are none; returns the names of those there were at first.

    They are stopped before they are killed: what stands still starts nothing else.
    """
    first = find()
    left = dict(first)
    for _ in range(ROUNDS):
        if not left:
            break
        stopped: dict[Process, str] = {}
        while new := {process: name for process, name in left.items() if process not in stopped}:
            for process in new:
                _send(process, signal.SIGSTOP)
            stopped.update(new)
            left = find()
        for process in stopped:
            _send(process, signal.SIGKILL)
        left = find()
        if left:
            time.sleep(ROUND_SECONDS)
            left = find()
    return sorted(first.values())


def reap(child: int = 0) -> int | None:
    """Take in all children of this process that have ended; returns how `child` ended, if it was one of them."""
    status = None
    try:
        while True:
            pid, ended = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return status
            if pid == child:
                status = os.waitstatus_to_exitcode(ended)
    except ChildProcessError:
        return status


def _send(process: Process, number: signal.Signals) -> None:
    """Send a signal to a process, but to none that has its number by now."""
    pid, started = process
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return
    try:
        read = _read_stat(pid)
        if read is not None and read[3] == started:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        pass
    finally:
        os.close(handle)


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _read_stat(pid: int) -> tuple[str, str, int, str] | None:
    """Return name, state, parent and time of the start of a process (proc(5), stat); None if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            line = file.read().decode("utf-8", "replace")
    except OSError:
        return None
    name, fields = line[line.index("(") + 1 : line.rindex(")")], line[line.rindex(")") + 2 :].split()
    return name, fields[0], int(fields[1]), fields[19]


def _environment(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []
