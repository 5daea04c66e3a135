"""A server as queueing theory draws it, and a crew of workers that keeps to a pace; all in made-up time."""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from typing import Literal, NamedTuple

from benchwright.engine.adaptive.concurrency_controller import ConcurrencyController

SECOND = 1_000_000_000


class Model(NamedTuple):
    """A server that serves `slots` requests at a time, each for `service` seconds on average (Erlang-distributed).

    `spread` is the standard deviation of that as a share of it. Further requests wait in a queue, or are refused
    and come again after `again` seconds, doubled each time.
    """

    slots: int
    service: float = 1.0
    spread: float = 0.2
    beyond: Literal["waits", "refused"] = "waits"
    again: float = 1.0
    seed: int = 0


class Moment(NamedTuple):
    """What there was when a trial had ended."""

    now: int
    level: int
    settled: bool


def play(
    model: Model,
    pace: ConcurrencyController,
    trials: int,
    slots_after: Callable[[int], int | None] = lambda ended: None,
) -> list[Moment]:
    """Lets so many trials end; `slots_after` so many of them the server may have another number of slots."""
    return _Play(model, pace, trials).until_all_ended(slots_after)


class _Trial:
    refusals = 0


class _Play:
    def __init__(self, model: Model, pace: ConcurrencyController, trials: int) -> None:
        self._model, self._pace, self._left = model, pace, trials
        self._random = random.Random(model.seed)
        self._slots = model.slots
        self._serving = self._in_flight = self._count = self._now = 0
        self._queue: deque[_Trial] = deque()
        self._agenda: list[tuple[int, int, bool, _Trial]] = []
        self._history: list[Moment] = []

    def until_all_ended(self, slots_after: Callable[[int], int | None]) -> list[Moment]:
        self._fill()
        while self._agenda:
            self._now, _, asks, trial = heapq.heappop(self._agenda)
            if asks:
                self._arrive(trial)
                continue
            self._serving -= 1
            while self._queue and self._serving < self._slots:
                self._serve(self._queue.popleft())
            self._end()
            changed = slots_after(len(self._history))
            self._slots = self._slots if changed is None else changed
        return self._history

    def _fill(self) -> None:
        while self._left and self._in_flight < self._pace.level:
            self._left -= 1
            self._in_flight += 1
            self._pace.count_start()
            self._arrive(_Trial())
        if not self._left:
            self._pace.mark_idle()

    def _arrive(self, trial: _Trial) -> None:
        if self._serving < self._slots:
            self._serve(trial)
        elif self._model.beyond == "waits":
            self._queue.append(trial)
        else:
            wait = self._model.again * 2**trial.refusals * self._random.uniform(0.5, 1.0)
            self._pace.count_refusal(self._now, again=trial.refusals > 0)
            trial.refusals += 1
            self._later(wait, True, trial)

    def _serve(self, trial: _Trial) -> None:
        self._serving += 1
        variance = self._model.spread**2
        self._later(self._model.service * self._random.gammavariate(1 / variance, variance), False, trial)

    def _later(self, seconds: float, asks: bool, trial: _Trial) -> None:
        self._count += 1
        heapq.heappush(self._agenda, (self._now + max(1, round(seconds * SECOND)), self._count, asks, trial))

    def _end(self) -> None:
        self._in_flight -= 1
        self._pace.count_end(self._now)
        self._history.append(Moment(self._now, self._pace.level, self._pace.is_settled))
        self._fill()
