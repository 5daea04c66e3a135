"""Measures the memory of all processes below the supervisor, and ends these processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

_KIBI = 1024
_PATIENCE = 2.0


def below() -> Iterator[int]:
    """Yield the pids of this process's descendants. For process 1, yield the pids of all other processes."""
    if os.getpid() == 1:
        yield from (int(name) for name in os.listdir("/proc") if name.isdecimal() and name != "1")
    else:
        yield from _children_of(os.getpid())


def _children_of(pid: int) -> Iterator[int]:
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                children = [int(word) for word in file.read().split()]
            for child in children:
                yield child
                yield from _children_of(child)
    except OSError:
        return


def memory_of_all() -> int:
    """Return the anonymous and shared memory of all processes below this process, in bytes.

    Memory that two processes share after a fork counts twice.
    """
    total = 0
    for pid in below():
        try:
            with open(f"/proc/{pid}/status") as file:
                lines = [line.split() for line in file if line.startswith(("RssAnon:", "RssShmem:"))]
        except OSError:
            continue
        total += sum(int(words[1]) for words in lines) * _KIBI
    return total


def end_all(user: int | None, reap: Callable[[], bool]) -> None:
    """Kill all processes below this process until none is left.

    `reap`: a function that collects ended processes and returns True if any processes are left. `user`: the
    user id that only these processes have, or None.
    """
    deadline = time.monotonic() + _PATIENCE
    while reap() and time.monotonic() < deadline:
        if os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)
        elif user is not None:
            _kill_all_of(user)
        for pid in below():
            _kill(pid)
        time.sleep(0.001)


def _kill_all_of(user: int) -> None:
    """Kill all processes of the user at once, so that none escapes.

    A child of this process does it, because the process that does it is killed, too.
    """
    if os.fork() == 0:
        try:
            os.setresuid(user, user, user)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass  # it has ended, or belongs to another user (sudo)
