"""A timer of the Linux kernel that wakes an event loop with an accuracy of about 0.1 ms.

The timers of the event loops themselves are only accurate to milliseconds.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from time import perf_counter_ns
from typing import Any
from weakref import WeakKeyDictionary

from benchwright.engine.thread_priority import (
    can_raise_thread_priority,
    raise_thread_priority,
    reset_thread_priority,
)

CLOCK_MONOTONIC = 1
"""Number of the Linux clock that `perf_counter_ns` reads."""
NONBLOCK, CLOEXEC = 0o4000, 0o2000000
ABSOLUTE_TIME_FLAG = 1
"""Flag for setting the timer: the given times are absolute on the clock, not relative to now (TFD_TIMER_ABSTIME)."""
NS_PER_SECOND = 1_000_000_000

PRIORITY_LEAD_NS = 1_000_000
"""The timer's thread raises its priority this many ns before a moment for which it waits.

If less than twice this time is left, the thread wakes at the moment itself and raises its priority only then.
"""

_libc = ctypes.CDLL(None, use_errno=True)


def _create_timer() -> int:
    """Return the descriptor of a new kernel timer. Return -1 if this system has none."""
    if not hasattr(_libc, "timerfd_create"):
        return -1
    descriptor: int = _libc.timerfd_create(CLOCK_MONOTONIC, NONBLOCK | CLOEXEC)
    return descriptor


def has_kernel_timer() -> bool:
    """Return True if this system has kernel timers (timerfd_create(2))."""
    descriptor = _create_timer()
    if descriptor < 0:
        return False
    os.close(descriptor)
    return True


class _Setting(ctypes.Structure):
    """`struct itimerspec`: the repeat interval and the time of the first expiry, each in seconds and nanoseconds."""

    _fields_ = (("interval", ctypes.c_long * 2), ("first", ctypes.c_long * 2))


class KernelTimer:
    """Wakes the waiters of one event loop at given moments. The timer is open while there are waiters.

    The thread of the event loop gets real-time priority shortly before a moment, and keeps it until the woken
    waiters have done their first step. In between it has ordinary priority, because Linux suspends threads that
    have real-time priority nearly all the time.
    """

    def __init__(self) -> None:
        self._moments: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._waiting = 0
        self._descriptor: int | None = None
        self._urgent = False

    async def wait_until(self, moment: int) -> bool:
        """Wait until a moment of `perf_counter_ns`. If this system has no such timer, return False at once."""
        if self._descriptor is None and not self._open():
            return False
        rings = asyncio.get_running_loop().create_future()
        heappush(self._moments, (moment, next(self._numbers), rings))
        if self._moments[0][2] is rings:
            self._await(moment)
        self._waiting += 1
        try:
            await rings
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._close()
        return True

    def _open(self) -> bool:
        descriptor = _create_timer()
        if descriptor < 0:
            return False
        self._descriptor = descriptor
        asyncio.get_running_loop().add_reader(descriptor, self._ring)
        return True

    def _await(self, moment: int) -> None:
        """Set the timer to a moment. If there is time to raise the thread's priority, set it to slightly earlier."""
        if (
            can_raise_thread_priority()
            and not self._urgent
            and moment - perf_counter_ns() > 2 * PRIORITY_LEAD_NS
        ):
            moment -= PRIORITY_LEAD_NS
        self._set(moment)

    def _set(self, moment: int) -> None:
        setting = _Setting(first=(moment // NS_PER_SECOND, moment % NS_PER_SECOND))
        _libc.timerfd_settime(self._descriptor, ABSOLUTE_TIME_FLAG, ctypes.byref(setting), None)

    def _ring(self) -> None:
        assert self._descriptor is not None
        with suppress(BlockingIOError):
            os.read(self._descriptor, 8)
        if can_raise_thread_priority() and not self._urgent:
            raise_thread_priority()
            self._urgent = True
        now = perf_counter_ns()
        if (
            self._moments and now < self._moments[0][0] <= now + 2 * PRIORITY_LEAD_NS
        ):  # it is time to get ready
            self._set(self._moments[0][0])
            return
        while self._moments and (self._moments[0][0] <= now or self._moments[0][2].done()):
            _, _, rings = heappop(self._moments)
            if not rings.done():
                rings.set_result(None)
        asyncio.get_running_loop().call_soon(self._calm_down)

    def _calm_down(self) -> None:
        if self._urgent:
            reset_thread_priority()
            self._urgent = False
        if self._moments and self._descriptor is not None:
            self._await(self._moments[0][0])

    def _close(self) -> None:
        if self._descriptor is not None:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
        self._descriptor = None
        self._moments.clear()
        if self._urgent:
            asyncio.get_running_loop().call_soon(self._calm_down)


_timers: WeakKeyDictionary[Any, KernelTimer] = WeakKeyDictionary()


def kernel_timer() -> KernelTimer:
    """Return the timer of the running event loop."""
    loop = asyncio.get_running_loop()
    timer = _timers.get(loop)
    if timer is None:
        timer = _timers[loop] = KernelTimer()
    return timer
