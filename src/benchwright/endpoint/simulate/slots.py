"""A server's capacity: so many answers at once; the requests beyond them wait, first come first served."""

from __future__ import annotations

from collections.abc import Callable, Hashable


class Slots:
    """At most `number` answers under way, None for any number; `waiting` is told by how much the queue changes."""

    def __init__(self, number: int | None, waiting: Callable[[int], None]) -> None:
        self._number = number
        self._under_way = 0
        self._queue: dict[Hashable, Callable[[], None]] = {}
        self._waiting = waiting

    def enter(self, answer: Hashable, begin_late: Callable[[], None]) -> bool:
        """Whether there is a slot for an answer now; else `begin_late` is kept until it has one."""
        if self._number is not None and self._under_way >= self._number:
            self._queue[answer] = begin_late
            self._waiting(1)
            return False
        self._under_way += 1
        return True

    def leave(self, answer: Hashable) -> Callable[[], None] | None:
        """An answer is over, or was given up while it waited; returns what begins the next one, to be called soon."""
        if self._queue.pop(answer, None) is not None:
            self._waiting(-1)
            return None
        if not self._queue:
            self._under_way -= 1
            return None
        self._waiting(-1)
        return self._queue.pop(next(iter(self._queue)))
