"""A user namespace of one's own: a process in it cannot look into processes outside, though they are the same user's.

Their environment (`/proc/PID/environ`), memory and open files are closed to it (ptrace(2), "ptrace access mode
checking": it lacks CAP_SYS_PTRACE where they are). Users keep their numbers, so that files stay as open as they were.
"""

from __future__ import annotations

import os

from . import system

_NEW_USERS = 0x10000000


def fork_apart() -> tuple[int, bool]:
    """Forks: (0 in the child, else its number; whether the child is in a user namespace of its own).

    It is not where the machine does not allow that.
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
    if left and not numbered:  # in a namespace without numbers, no file can be made
        os.waitpid(pid, 0)
        return os.fork(), False
    return pid, numbered


def is_possible() -> bool:
    """Whether this machine allows it, tried with a process that does nothing else."""
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
    """Gives the users and groups of a process's new namespace the numbers that they have here, as far as we may."""
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
