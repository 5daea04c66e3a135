"""Starts a process in its own user namespace, from which it cannot inspect processes outside.

The process cannot read the environment (`/proc/PID/environ`), memory and open files of processes outside,
even if these belong to the same user, because it lacks CAP_SYS_PTRACE in their namespace (ptrace(2), "ptrace
access mode checking"). User ids stay the same, so access to files is unchanged.
"""

from __future__ import annotations

import os

from . import system

_NEW_USERS = 0x10000000


def fork_apart() -> tuple[int, bool]:
    """Fork a child into its own user namespace.

    Return (pid, is apart). `pid` is 0 in the child. `is apart` is True if the child has its own namespace. It
    has none if the machine does not allow user namespaces.
    """
    left_read, left_write = os.pipe()
    numbered_read, numbered_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        left = _leave()
        os.write(left_write, b"y" if left else b"n")
        if left and os.read(numbered_read, 1) != b"y":
            os._exit(0)
        return 0, left
    os.close(left_write)
    os.close(numbered_read)
    left = os.read(left_read, 1) == b"y"
    numbered = left and _keep_numbers(pid)
    os.write(numbered_write, b"y" if numbered else b"n")
    os.close(left_read)
    os.close(numbered_write)
    if left and not numbered:  # without an id mapping, no file can be created in a namespace
        os.waitpid(pid, 0)
        return os.fork(), False
    return pid, numbered


def is_possible() -> bool:
    """Return True if this machine allows user namespaces. This is tested with a process that does nothing else."""
    pid, apart = fork_apart()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return apart


def _leave() -> bool:
    try:
        system.unshare(_NEW_USERS)
    except OSError:
        return False
    return True


def _keep_numbers(pid: int) -> bool:
    """Map the users and groups of a process's new namespace to the same ids outside, as far as permitted.

    Return False if the mapping failed.
    """
    try:
        if os.geteuid() == 0:
            users, groups = _all_of("uid_map"), _all_of("gid_map")
        else:
            _write(pid, "setgroups", "deny")
            users, groups = f"{os.geteuid()} {os.geteuid()} 1", f"{os.getegid()} {os.getegid()} 1"
        _write(pid, "uid_map", users)
        _write(pid, "gid_map", groups)
    except OSError:
        return False
    return True


def _all_of(kind: str) -> str:
    with open(f"/proc/self/{kind}", encoding="ascii") as file:
        ranges = [line.split() for line in file]
    return "".join(f"{first} {first} {count}\n" for first, _, count in ranges)


def _write(pid: int, name: str, text: str) -> None:
    with open(f"/proc/{pid}/{name}", "w", encoding="ascii") as file:
        file.write(text)
