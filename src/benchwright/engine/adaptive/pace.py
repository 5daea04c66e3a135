"""The pace: from when trials end and requests are refused, how many trials are to be in flight.

Slow start as in TCP (RFC 5681): 1, 2, 4, … while the server does more for it; then smaller steps; half as
many at once where it is overloaded; and no further step once it has settled.
"""

from __future__ import annotations

from enum import Enum, auto
from math import log2

GAIN = 1.2
"""What twice as many trials in flight must gain in trials per second; by this measure smaller steps too."""

ROUNDS = 2
FEWEST = 4
"""A level is judged by so many trials for each in flight, and so many at least."""

FEWEST_IN_DOUBT = 16
"""So many at least where doubling seemed to gain nothing, which may have been chance."""

FEW_REFUSALS = 2
OVERLOADED_SHARE = 0.05
"""A server is overloaded when it refuses this many requests, and this share of the trials that end. Fewer may be
chance; but not if as many that had waited are refused again: such ones would fail in the end."""

SMALL_STEP = 4
MARGIN = 8
"""The first small step is a quarter of the level; from what overloaded the server an eighth is kept away."""

PATIENCE = 4
"""Windows after which a level is doubted that is below half of what the server once served; doubled each time."""


class Phase(Enum):
    """What the trials of the present level are to show."""

    DOUBLING = auto()
    CHECKING = auto()
    """Doubling gained nothing: whether the level before had only looked too good."""
    PROBING = auto()
    """Whether a small step gains."""
    EASING = auto()
    """The server was overloaded: whether it is not any more."""
    RETURNING = auto()
    """The same after a small step; then it settles where it was before that step."""
    SETTLED = auto()


class Pace:
    """`level` trials may be in flight, from 1 to `bound`. Times are in ns of any steady clock.

    A level is judged by a window: it opens when no more trials than `level` are in flight, and closes when enough
    have ended.
    """

    # good: the last level that gained enough; flat: one that did not; best: the highest at which it settled;
    # ceiling: what it does not go beyond; rates: trials and ns of all windows of a level.

    def __init__(self, bound: int, now: int) -> None:
        self.level = 1
        self._ceiling = bound
        self._phase = Phase.DOUBLING
        self._good = 0
        self._flat = 0
        self._step = 0
        self._best = 0
        self._stood = 0
        self._patience = PATIENCE
        self._rates: dict[int, tuple[int, int]] = {}
        self._in_flight = 0
        self._refused_again = 0
        self._draining = self._starved = False
        self._open(now)

    @property
    def settled(self) -> bool:
        """Whether the level stands, and no more trials than that are in flight."""
        return self._phase is Phase.SETTLED and not self._draining

    def begin(self) -> None:
        """A trial begins."""
        self._in_flight += 1

    def end(self, now: int) -> None:
        """A trial ended."""
        self._in_flight -= 1
        if self._draining:
            if self._in_flight <= self.level:
                self._open(now)
            return
        self._ended += 1
        if self._ended >= self._enough and not self._starved:
            self._close(now)

    def refuse(self, now: int, *, again: bool = False) -> None:
        """The server refused a request as one too many, or did not answer it in time; `again` after it had waited."""
        if self._draining:
            return  # it was asked at a level that is given up already
        self._refused += 1
        self._refused_again += again
        few = min(FEW_REFUSALS, self.level)
        share = self._refused / max(self._ended, self._enough)
        if self._refused_again >= few or (self._refused >= few and share >= OVERLOADED_SHARE):
            self._back_off(now)

    def starve(self) -> None:
        """There is no work for now: what ends tells nothing of the level."""
        self._starved = True

    def feed(self, now: int) -> None:
        """There is work again."""
        if self._starved:
            self._starved = False
            self._go_to(self.level, now)

    def interrupt(self, now: int) -> None:
        """Our process stood still: what the present level has shown so far tells nothing of it."""
        self._go_to(self.level, now)

    def gain(self, level: int) -> float | None:
        """Return how many times as many trials end per second at a level as at 1; None where that is not known."""
        return self._rate(level) / self._rate(1) if {1, level} <= self._rates.keys() else None

    def _open(self, now: int) -> None:
        self._draining = False
        self._opened_at = now
        self._ended = self._refused = 0
        fewest = FEWEST if self._phase is Phase.DOUBLING else FEWEST_IN_DOUBT
        self._enough = max(ROUNDS * self.level, fewest)

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
            self._phase = Phase.CHECKING
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
        self._phase = Phase.DOUBLING
        self._double(now)

    def _probe(self, now: int) -> None:
        self._phase = Phase.PROBING
        self._step = max(1, self._good // SMALL_STEP)
        self._take_step(now)

    def _take_step(self, now: int) -> None:
        level = min(self._good + self._step, self._flat or self._ceiling)
        if level > self._good:
            self._go_to(level, now)
        else:
            self._settle(now)

    def _settle(self, now: int) -> None:
        self._phase = Phase.SETTLED
        self._best = max(self._best, self._good)
        self._stood = 0
        self._go_to(self._good, now)

    def _back_off(self, now: int) -> None:
        """Goes on with half as many. After the first refusals at a level, that level is not tried again."""
        if self._phase is Phase.PROBING:
            self._phase = Phase.RETURNING
        else:
            if self._phase is not Phase.EASING:
                self._ceiling = max(1, self.level - max(1, self.level // MARGIN))
            self._phase = Phase.EASING
            self._flat = 0
            self._rates.clear()
        self._go_to(max(1, self.level // 2), now)

    def _gained(self, level: int) -> bool:
        """Whether a level does enough more than the last good one."""
        enough: float = GAIN ** log2(level / self._good)
        return self._rate(level) >= self._rate(self._good) * enough

    def _rate(self, level: int) -> float:
        ended, took = self._rates[level]
        return ended / took


_NEXT = {
    Phase.DOUBLING: Pace._after_doubling,
    Phase.CHECKING: Pace._after_checking,
    Phase.PROBING: Pace._after_probing,
    Phase.EASING: Pace._after_easing,
    Phase.RETURNING: Pace._settle,
    Phase.SETTLED: Pace._after_settling,
}
