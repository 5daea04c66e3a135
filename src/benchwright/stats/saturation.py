"""The load at which a server is saturated, from the rates that it served at rising levels of load.

Levels are concurrencies (closed loop) or offered rates (open loop). The served rate is in requests per second.
If there are objectives, only requests that meet them count. A level suffices if it serves at least 1 / (1 +
gain) of the highest rate of any level: more load then adds less than the share `gain`. The lowest such level is
the knee of the curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

MIN_RATE_RATIO = 1.15
"""Smallest ratio of two neighbouring offered rates between which another measurement is useful."""


def find_saturation_level(served: Mapping[float, float], gain: float) -> float:
    """Return the lowest level that serves at least 1 / (1 + gain) of the highest rate of any level.

    Raises:
        ValueError: If there are no levels.
    """
    if not served:
        raise ValueError("no level was measured")
    enough = max(served.values()) / (1 + gain)
    return min(level for level, rate in served.items() if rate >= enough)


def still_gains_throughput(served: Mapping[float, float], gain: float) -> bool:
    """Return True if the highest level serves more than the level below it, by more than the share `gain`.

    Return True for a single level.
    """
    levels = sorted(served)
    if len(levels) < 2:
        return True
    return served[levels[-1]] > served[levels[-2]] * (1 + gain)


def next_concurrency(served: Mapping[float, float], gain: float) -> int | None:
    """Return the concurrency to measure next, in order to locate the knee more finely.

    The next concurrency is usually between the knee and the level below the knee. But if the level above the
    best level serves clearly less, the next concurrency is between these two levels, where the rate might be
    better still. That happens if requests miss their objectives beyond some level. Return None if there is
    nothing left to measure between these levels.
    """
    levels = sorted(served)
    best = max(served, key=lambda level: (served[level], -level))
    above = next((level for level in levels if level > best), None)
    if above is not None and served[above] * (1 + gain) < served[best] and (middle := _middle(best, above)):
        return middle
    found = find_saturation_level(served, gain)
    below = max((level for level in levels if level < found), default=None)
    return None if below is None else _middle(below, found)


def next_rate(kept_up: Mapping[float, bool]) -> float | None:
    """Return the rate to offer next. None if no further measurement is useful.

    The next rate is between two measured rates: the lowest rate with which the server failed to keep up, and
    the highest rate below it with which the server kept up.
    """
    missed = [rate for rate, kept in kept_up.items() if not kept]
    if not missed:
        return None
    high = min(missed)
    below = [rate for rate, kept in kept_up.items() if kept and rate < high]
    if not below or high / max(below) <= MIN_RATE_RATIO:
        return None
    return float(f"{math.sqrt(high * max(below)):.3g}")


def _middle(low: float, high: float) -> int | None:
    """Return the whole number nearest to the middle of `low` and `high`.

    None if there is no whole number between them.
    """
    middle = round((low + high) / 2)
    return middle if low < middle < high else None
