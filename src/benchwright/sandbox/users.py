"""Temporary user ids, one for each running program.

If a program has its own user id, the kernel's limits per user count this program alone. No program can touch
the processes and files of another program.
"""

from __future__ import annotations

import os
import secrets

_BLOCK = 1024
_LARGEST = 2**31 - 2


class TemporaryUserIds:
    """A pool of user ids that belong to no account. Only root can use them.

    The ids are in the upper half of the ids of this user namespace. The block of ids is chosen at random, so
    that two commands running at the same time seldom use the same id.
    """

    def __init__(self) -> None:
        largest = min(_LARGEST, _largest_mapped())
        blocks = max(1, largest // 2 // _BLOCK)
        self._next = largest - secrets.randbelow(blocks) * _BLOCK
        self._free: list[int] = []

    def acquire(self) -> int | None:
        """Return a free id. Return None if this process is not root."""
        if os.geteuid() != 0:
            return None
        if self._free:
            return self._free.pop()
        self._next -= 1
        return self._next

    def release(self, user: int | None) -> None:
        """Release an id after its program, and all processes that the program started, have ended."""
        if user is not None:
            self._free.append(user)


def _largest_mapped() -> int:
    with open("/proc/self/uid_map", encoding="ascii") as file:
        ranges = [[int(number) for number in line.split()] for line in file]
    return max(first + length - 1 for first, _, length in ranges)
