"""Which requests are answered badly, and how."""

from __future__ import annotations

import random
from bisect import bisect_right
from itertools import accumulate

from benchwright.endpoint.simulate.board import FAULTED, Board
from benchwright.endpoint.simulate.settings import FAULT_KINDS, Settings
from benchwright.records import Record

HARMLESS = frozenset({"stall", "slow_headers"})
"""Faults after which the whole answer still comes, if the client waits for it."""


class Fault(Record, frozen=True):
    """One fault: its kind, where in the answer it strikes (0 to 1), and a seeded coin."""

    kind: str
    place: float
    coin: bool


class FaultPlan:
    """Decides, in the order in which a process receives them, which requests get a fault."""

    def __init__(self, settings: Settings, board: Board, process: int) -> None:
        self._board = board
        self._counters = board.counters[process]
        self._bounds = list(accumulate(getattr(settings.faults, kind) for kind in FAULT_KINDS))
        self._most = settings.faults.max_faults
        self._rng = random.Random(f"{settings.seed}:faults:{process}")

    def draw(self) -> Fault | None:
        """The fault of the request just received, None for a good answer. Counts it."""
        if not self._bounds[-1]:
            return None
        chosen = bisect_right(self._bounds, self._rng.random())
        place, coin = self._rng.random(), self._rng.random() < 0.5
        if chosen >= len(FAULT_KINDS) or not self._count(chosen):
            return None
        return Fault(FAULT_KINDS[chosen], place, coin)

    def _count(self, kind: int) -> bool:
        if self._most is None:
            self._counters.cells[FAULTED + kind] += 1
            return True
        with self._board.lock:
            if sum(self._board.sum(FAULTED + index) for index in range(len(FAULT_KINDS))) >= self._most:
                return False
            self._counters.cells[FAULTED + kind] += 1
        return True
