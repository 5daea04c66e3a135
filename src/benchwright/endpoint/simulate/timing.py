"""Timing: seeded delays, and a scheduler with one heap and one timer for everything that waits."""

from __future__ import annotations

import asyncio
import heapq
import math
import random
from collections.abc import Iterator
from itertools import count, repeat
from time import perf_counter_ns
from typing import Literal, Protocol

from benchwright.errors import UserError
from benchwright.formats import parse_duration
from benchwright.records import Record

EARLY_TOLERANCE_NS = 500_000
"""Time in ns by which a task may be done early.

It is half a tick, because the timers of event loops count in milliseconds.
"""

DELAY_TABLE_SIZE = 4096


class Delay(Record, frozen=True):
    """A distribution of delays with a mean in milliseconds.

    `spread`: for `uniform`, the half width as a share of the mean; for `lognormal`, the standard deviation of
    the logarithm.

    Raises:
        UserError: If a value is out of its range.
    """

    kind: Literal["constant", "uniform", "lognormal"] = "constant"
    mean_ms: float = 0.0
    spread: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.mean_ms < math.inf:
            raise UserError(f"A delay must have a mean of 0 ms or more, not {self.mean_ms:g}.")
        if not 0 <= self.spread <= (1 if self.kind == "uniform" else 5):
            raise UserError(f"The spread {self.spread:g} of a {self.kind} delay is out of its range.")

    @classmethod
    def parse(cls, text: str) -> Delay:
        """Return the delay written as `MS`, `KIND:MS` or `KIND:MS:SPREAD`.

        Raises:
            UserError: If the text has another form.
        """
        kind, *numbers = text.split(":") if ":" in text else ("constant", text)
        try:
            mean, *spread = map(float, numbers)
            if kind in ("constant", "uniform", "lognormal") and len(spread) < 2:
                return cls(kind, mean, *spread)  # type: ignore[arg-type]
        except ValueError:
            pass
        raise UserError(
            f"The delay {text!r} is neither MS nor KIND:MS[:SPREAD] with KIND constant, uniform or lognormal."
        )

    @classmethod
    def parse_seconds(cls, text: str) -> Delay:
        """Return the delay written as text.

        The mean is in seconds, or has a unit: `0.05`, `50ms`, `lognormal:10ms:0.3`.

        Raises:
            UserError: If the text has another form.
        """
        parts = text.split(":")
        place = min(1, len(parts) - 1)
        seconds = parse_duration(parts[place])
        if seconds is None:
            raise UserError(
                f"The delay {text!r} is neither TIME nor KIND:TIME[:SPREAD], with TIME such as 0.05 or 50ms."
            )
        parts[place] = repr(seconds * 1e3)
        return cls.parse(":".join(parts))

    def draw_ms(self, rng: random.Random) -> float:
        """Return one random delay in ms."""
        if self.kind == "uniform":
            return rng.uniform(self.mean_ms * (1 - self.spread), self.mean_ms * (1 + self.spread))
        if self.kind == "lognormal" and self.mean_ms:
            return rng.lognormvariate(math.log(self.mean_ms) - self.spread**2 / 2, self.spread)
        return self.mean_ms


NO_DELAY = Delay()


class DelayTable:
    """Delays from one distribution, in ns.

    The delays come from a seeded table of 4096 delays. Each request begins at another index of the table. So
    a request's delays depend on the seed and on the request's number, not on how its answer interleaves with
    other answers.
    """

    def __init__(self, delay: Delay, seed: str) -> None:
        rng = random.Random(seed)
        size = 1 if delay.kind == "constant" else DELAY_TABLE_SIZE
        self._table = [round(delay.draw_ms(rng) * 1e6) for _ in range(size)]

    def request_delays(self, number: int) -> Iterator[int]:
        """Return an endless iterator over the delays of the request with this number."""
        if len(self._table) == 1:
            return repeat(self._table[0])
        return self._walk(number * 2_654_435_761)

    def _walk(self, position: int) -> Iterator[int]:
        table = self._table
        while True:
            yield table[position % DELAY_TABLE_SIZE]
            position += 1


class ScheduledTask(Protocol):
    """A task of the scheduler. The task runs in steps."""

    def step(self, horizon: int) -> int | None:
        """Do everything that is due until `horizon`.

        Return the time of the next step, which is after `horizon`. Return None if the task is done.
        """
        ...


class Scheduler:
    """Scheduler of any number of tasks by their due times (`perf_counter_ns`). It uses one timer of the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._heap: list[tuple[int, int, ScheduledTask]] = []
        self._order = count()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, due: int, task: ScheduledTask) -> None:
        """Schedule the task's first step at `due`."""
        heapq.heappush(self._heap, (due, next(self._order), task))
        if self._heap[0][2] is task:
            self._set_timer()

    def run_or_add(self, due: int, task: ScheduledTask) -> None:
        """Schedule the task's first step at `due`. If that time has passed, run the step immediately."""
        now = perf_counter_ns()
        following = task.step(now) if due <= now else due
        if following is not None:
            self.add(following, task)

    def remove(self, task: ScheduledTask) -> None:
        """Remove a task. The task is found by a search through all tasks."""
        self._heap[:] = [entry for entry in self._heap if entry[2] is not task]
        heapq.heapify(self._heap)

    def stop(self) -> None:
        """Remove all tasks."""
        self._heap.clear()
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap:
            wait = (self._heap[0][0] - perf_counter_ns()) / 1e9
            self._timer = self._loop.call_later(max(wait, 0.001), self._run)

    def _run(self) -> None:
        heap = self._heap
        horizon = perf_counter_ns() + EARLY_TOLERANCE_NS
        while heap and heap[0][0] <= horizon:
            task = heapq.heappop(heap)[2]
            due = task.step(horizon)
            if due is not None:
                heapq.heappush(heap, (due, next(self._order), task))
        self._set_timer()
