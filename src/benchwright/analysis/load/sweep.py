"""Sweeps: decides which level to measure next, and finds the load at which the server is saturated."""

from __future__ import annotations

import msgspec

from benchwright.analysis.load.records import LevelResult, LoadLevel, Saturation, ServedUnit, SweepPlan
from benchwright.stats.saturation import (
    find_saturation_level,
    next_concurrency,
    next_rate,
    still_gains_throughput,
)

MAX_CONCURRENCY = 1024.0
MAX_RATE = 4096.0


class LoadSweep:
    """Search for the load at which a server is saturated.

    First, the load is doubled until doubling gains nothing. Then the knee is located between levels. In a
    closed loop, the rule is that of `stats.saturation`: a level is saturated if twice the load serves less
    than `gain` more. In an open loop, the server keeps up with a level if it serves at least 1 - `gain` of
    the offered rate. The served rate counts answers. If there are objectives, it counts only answers that
    meet them.
    """

    def __init__(self, first: LoadLevel, plan: SweepPlan, *, objectives: bool) -> None:
        self._first = first
        self._gain = plan.gain
        self._left = plan.bisect
        self._most = plan.most or (MAX_RATE if first.is_open_loop else MAX_CONCURRENCY)
        self._objectives = objectives
        self._results: dict[float, LevelResult] = {}
        self._ended: str | None = None
        self._turned = False

    def add_result(self, result: LevelResult) -> None:
        """Add the result of a level."""
        if self._turned and (result.client_limited or result.state != "finished"):
            self._left = 0  # this level does not measure the server; earlier results stay valid
            return
        self._results[result.level.numeric_load] = result
        if result.client_limited:
            self._ended = (
                f"at {result.level.name} the client was the limit, not the server: {result.client_bound}"
            )
        elif result.state != "finished":
            self._ended = f"the level {result.level.name} was stopped: {result.stop_reason}"
        elif result.achieved is None and result.answered_requests:
            self._ended = (
                f"at {result.level.name} there is no steady rate: use a longer --duration, or more --requests"
            )
        elif not served_rate(result):
            self._ended = f"at {result.level.name} no request was answered correctly"

    def next_level(self) -> LoadLevel | None:
        """Return the next level to measure. None if the search is finished."""
        if not self._results:
            return self._first
        if not self._turned and self._ended is None and self._goes_on():
            highest = max(self._results)
            if highest * 2 <= self._most:
                return self._at(highest * 2)
            self._ended = f"it was not reached at the highest level allowed, {self._at(highest).name}"
        self._turned = True
        if self._left <= 0 or self._ended is not None:
            return None
        self._left -= 1
        middle = self._between()
        return None if middle is None else self._at(middle)

    def conclusion(self, interrupted: bool) -> Saturation | None:
        """Return the result of the sweep. None if no level was measured."""
        if not self._results:
            return None
        by: ServedUnit = "requests/s within the objectives" if self._objectives else "requests/s"
        if interrupted and not self._turned:
            return Saturation(False, by, self._gain, reason="the sweep was interrupted")
        if self._ended is not None:
            return Saturation(False, by, self._gain, reason=self._ended)
        found = self._open(by) if self._first.is_open_loop else self._closed(by)
        decisive = [one.numeric_load for one in (found.level, found.beyond) if one is not None]
        doubtful = self._objectives and any(self._results[value].client_bound for value in decisive)
        return msgspec.structs.replace(found, doubtful=doubtful)

    def _goes_on(self) -> bool:
        if self._first.is_open_loop:
            return all(self._kept_up().values())
        return still_gains_throughput(self._served(), self._gain)

    def _between(self) -> float | None:
        if self._first.is_open_loop:
            return next_rate(self._kept_up())
        return next_concurrency(self._served(), self._gain)

    def _closed(self, by: ServedUnit) -> Saturation:
        served = self._served()
        found = find_saturation_level(served, self._gain)
        above = min((level for level in served if level > found), default=None)
        return Saturation(
            True,
            by,
            self._gain,
            level=self._at(found),
            served=served[found],
            beyond=None if above is None else self._at(above),
            beyond_served=None if above is None else served[above],
        )

    def _open(self, by: ServedUnit) -> Saturation:
        kept, served = self._kept_up(), self._served()
        missed = min((rate for rate, one in kept.items() if not one), default=None)
        found = max(
            (rate for rate, one in kept.items() if one and (missed is None or rate < missed)), default=None
        )
        return Saturation(
            True,
            by,
            self._gain,
            level=None if found is None else self._at(found),
            served=None if found is None else served[found],
            beyond=None if missed is None else self._at(missed),
            beyond_served=None if missed is None else served[missed],
        )

    def _served(self) -> dict[float, float]:
        return {value: served_rate(result) for value, result in self._results.items()}

    def _kept_up(self) -> dict[float, bool]:
        return {
            value: served_rate(result) >= (1 - self._gain) * (result.offered or value)
            for value, result in self._results.items()
        }

    def _at(self, value: float) -> LoadLevel:
        if self._first.is_open_loop:
            return LoadLevel(rate=value, arrivals=self._first.arrivals)
        return LoadLevel(concurrency=int(value))


def served_rate(result: LevelResult) -> float:
    """Return the served rate of a level in answers per second. 0 if all requests were sent at once (a burst).

    If there are objectives, only answers that meet them count.
    """
    rate = result.achieved if result.goodput is None else result.goodput.rate
    return 0.0 if rate is None else rate.value
