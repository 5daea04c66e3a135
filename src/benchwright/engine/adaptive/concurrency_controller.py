"""The concurrency controller: derives the number of trials in flight (the level) from completions and refused
requests.

It uses a slow start as in TCP (RFC 5681): the level is 1, 2, 4, … while the throughput grows with it, then
grows in smaller steps. If the server is overloaded, the level is halved. Once the level has settled, it takes
no further steps.
"""

from __future__ import annotations

from enum import Enum, auto
from math import log2

MIN_THROUGHPUT_GAIN = 1.2
"""Factor by which the number of trials per second must grow when the level is doubled.

If it grows less, doubling has gained nothing. A smaller step must gain in proportion: MIN_THROUGHPUT_GAIN ** log2(new
level / old level).
"""

WINDOW_TRIALS_PER_LEVEL = 2
MIN_WINDOW_TRIALS = 4
"""`MIN_WINDOW_TRIALS`: minimum number of trials that must end before a level is judged.

`WINDOW_TRIALS_PER_LEVEL`: at higher levels, this minimum is `WINDOW_TRIALS_PER_LEVEL` times the level.
"""

MIN_RECHECK_TRIALS = 16
"""Minimum number of trials that must end before a level is judged again after doubling seemed to gain
nothing.
It is larger than `MIN_WINDOW_TRIALS`, because the missing gain may have been chance.
"""

MIN_REFUSALS = 2
MIN_REFUSED_SHARE = 0.05
"""`MIN_REFUSALS`: a server is overloaded only if it refuses at least this many requests. Fewer may be chance.

`MIN_REFUSED_SHARE`: the refusals must also be at least this share of the trials that end. This share is not
required if the server refuses `MIN_REFUSALS` requests once more after they had waited, because such requests
would fail in the end.
"""

FIRST_STEP_DIVISOR = 4
CEILING_DIVISOR = 8
"""`FIRST_STEP_DIVISOR`: the first small step is 1/`FIRST_STEP_DIVISOR` of the level.

`CEILING_DIVISOR`: the ceiling, which the level may not exceed, is 1/`CEILING_DIVISOR` below the level that
overloaded the server.
"""

WINDOWS_BEFORE_RETRY = 4
"""Number of windows after which a level that is below half of the best settled level is raised again.

This number doubles with each retry.
"""


class SearchPhase(Enum):
    """State of the concurrency search: what the trials at the current level are meant to find out."""

    DOUBLING = auto()
    CHECKING = auto()
    """Doubling gained nothing. Measure the previous level again, because it may have looked too good by chance."""
    PROBING = auto()
    """Measure whether a small step raises the throughput."""
    EASING = auto()
    """The server was overloaded. Measure whether it is still overloaded at half the level."""
    RETURNING = auto()
    """The server was overloaded after a small step.

    Halve the level for a while, then settle at the level before the step.
    """
    SETTLED = auto()


class ConcurrencyController:
    """Concurrency controller: at most `level` trials may be in flight, from 1 to `bound`.

    Times are in ns of a steady clock. A level is judged by a window. The window opens when no more than
    `level` trials are in flight, and closes when enough trials have ended.
    """

    # _good: the last level that gained enough; _flat: a level that did not; _best: the highest settled level;
    # _ceiling: the maximum level; _rates: {level: (trials, ns)} over all windows of the level.

    def __init__(self, bound: int, now: int) -> None:
        self.level = 1
        self._ceiling = bound
        self._phase = SearchPhase.DOUBLING
        self._good = 0
        self._flat = 0
        self._step = 0
        self._best = 0
        self._stood = 0
        self._patience = WINDOWS_BEFORE_RETRY
        self._rates: dict[int, tuple[int, int]] = {}
        self._in_flight = 0
        self._refused_again = 0
        self._draining = self._starved = False
        self._open(now)

    @property
    def is_settled(self) -> bool:
        """True if the level is settled, and no more trials are in flight than the level allows."""
        return self._phase is SearchPhase.SETTLED and not self._draining

    def count_start(self) -> None:
        """Count a trial that begins."""
        self._in_flight += 1

    def count_end(self, now: int) -> None:
        """Count a trial that ended, and judge the level if its window is complete."""
        self._in_flight -= 1
        if self._draining:
            if self._in_flight <= self.level:
                self._open(now)
            return
        self._ended += 1
        if self._ended >= self._enough and not self._starved:
            self._close(now)

    def count_refusal(self, now: int, *, again: bool = False) -> None:
        """Count a request that the server refused because of overload, or did not answer in time.

        `again`: True if the request had been refused before and has waited since.
        """
        if self._draining:
            return  # the request belongs to a level that was given up already
        self._refused += 1
        self._refused_again += again
        few = min(MIN_REFUSALS, self.level)
        share = self._refused / max(self._ended, self._enough)
        if self._refused_again >= few or (self._refused >= few and share >= MIN_REFUSED_SHARE):
            self._back_off(now)

    def mark_idle(self) -> None:
        """Note that there is no work at the moment, so that trials that end now are not used to judge the level."""
        self._starved = True

    def mark_busy(self, now: int) -> None:
        """Note that there is work. If there was none before, begin a new window."""
        if self._starved:
            self._starved = False
            self._go_to(self.level, now)

    def restart_window(self, now: int) -> None:
        """Restart the window after a standstill of our process. What was measured in the window before is invalid."""
        self._go_to(self.level, now)

    def gain(self, level: int) -> float | None:
        """Return the throughput at a level divided by the throughput at level 1. None if one of the two is unknown."""
        return self._rate(level) / self._rate(1) if {1, level} <= self._rates.keys() else None

    def _open(self, now: int) -> None:
        self._draining = False
        self._opened_at = now
        self._ended = self._refused = 0
        fewest = MIN_WINDOW_TRIALS if self._phase is SearchPhase.DOUBLING else MIN_RECHECK_TRIALS
        self._enough = max(WINDOW_TRIALS_PER_LEVEL * self.level, fewest)

    def _go_to(self, level: int, now: int) -> None:
        self.level = level
        self._refused_again = 0
        self._open(now)
        self._draining = self._in_flight > level

    def _close(self, now: int) -> None:
        ended, took = self._rates.get(self.level, (0, 0))
        self._rates[self.level] = ended + self._ended, took + max(1, now - self._opened_at)
        _NEXT[self._phase](self, now)

    def _after_doubling(self, now: int) -> None:
        if self._good and not self._gained(self.level):
            self._flat = self.level
            self._phase = SearchPhase.CHECKING
            self._go_to(self._good, now)
        else:
            self._good = self.level
            self._double(now)

    def _after_checking(self, now: int) -> None:
        if self._gained(self._flat):
            self._good = self._flat
            self._double_after_all(now)
        else:
            self._probe(now)

    def _after_probing(self, now: int) -> None:
        if not self._gained(self.level):
            self._settle(now)
            return
        self._good = self.level
        if self.level == self._flat:
            self._double_after_all(now)
        else:
            self._step = min(2 * self._step, self._good)
            self._take_step(now)

    def _after_easing(self, now: int) -> None:
        self._good = self.level
        self._probe(now)

    def _after_settling(self, now: int) -> None:
        self._stood += 1
        if 2 * self.level < self._best and self._stood >= self._patience:
            self._patience *= 2
            self._probe(now)
        else:
            self._open(now)

    def _double(self, now: int) -> None:
        if self._good == self._ceiling:
            self._settle(now)
        else:
            self._go_to(min(2 * self._good, self._ceiling), now)

    def _double_after_all(self, now: int) -> None:
        self._flat = 0
        self._phase = SearchPhase.DOUBLING
        self._double(now)

    def _probe(self, now: int) -> None:
        self._phase = SearchPhase.PROBING
        self._step = max(1, self._good // FIRST_STEP_DIVISOR)
        self._take_step(now)

    def _take_step(self, now: int) -> None:
        level = min(self._good + self._step, self._flat or self._ceiling)
        if level > self._good:
            self._go_to(level, now)
        else:
            self._settle(now)

    def _settle(self, now: int) -> None:
        self._phase = SearchPhase.SETTLED
        self._best = max(self._best, self._good)
        self._stood = 0
        self._go_to(self._good, now)

    def _back_off(self, now: int) -> None:
        """Halve the level.

        A ceiling below the old level keeps the old level from being tried again. After a small step, no ceiling
        is set.
        """
        if self._phase is SearchPhase.PROBING:
            self._phase = SearchPhase.RETURNING
        else:
            if self._phase is not SearchPhase.EASING:
                self._ceiling = max(1, self.level - max(1, self.level // CEILING_DIVISOR))
            self._phase = SearchPhase.EASING
            self._flat = 0
            self._rates.clear()
        self._go_to(max(1, self.level // 2), now)

    def _gained(self, level: int) -> bool:
        """Return True if the throughput at a level is sufficiently above the throughput at the last good level."""
        enough: float = MIN_THROUGHPUT_GAIN ** log2(level / self._good)
        return self._rate(level) >= self._rate(self._good) * enough

    def _rate(self, level: int) -> float:
        ended, took = self._rates[level]
        return ended / took


_NEXT = {
    SearchPhase.DOUBLING: ConcurrencyController._after_doubling,
    SearchPhase.CHECKING: ConcurrencyController._after_checking,
    SearchPhase.PROBING: ConcurrencyController._after_probing,
    SearchPhase.EASING: ConcurrencyController._after_easing,
    SearchPhase.RETURNING: ConcurrencyController._settle,
    SearchPhase.SETTLED: ConcurrencyController._after_settling,
}
