"""Where a server is saturated: from the rates that it served at rising levels of load.

Levels are concurrencies (closed loop) or offered rates (open loop); what is served is requests per second, or those
of them that meet the objectives. A level suffices if it serves at least 1 / (1 + gain) of the most that any level did:
more load buys less than `gain`. The least such level is the knee of the curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

FINEST = 1.15
"""Two rates that are not further apart than by this factor are not told apart by a measurement between them."""


def knee(served: Mapping[float, float], gain: float) -> float:
    """The least level that suffices.

    Raises:
        ValueError: no levels.
    """
    if not served:
        raise ValueError("no level was measured")
    enough = max(served.values()) / (1 + gain)
    return min(level for level, rate in served.items() if rate >= enough)


def still_gains(served: Mapping[float, float], gain: float) -> bool:
    """Whether the highest level serves more than the one below it by more than the share `gain`; true of one level."""
    levels = sorted(served)
    if len(levels) < 2:
        return True
    return served[levels[-1]] > served[levels[-2]] * (1 + gain)


def between_knee(served: Mapping[float, float], gain: float) -> int | None:
    """The concurrency to measure next to place the knee more finely; None where it is as fine as it gets.

    It lies between the knee and the level below it. Where more load serves clearly less, as with objectives that are
    missed beyond some level, it lies between the best level and the one above: there might be a better one.
    """
    levels = sorted(served)
    best = max(served, key=lambda level: (served[level], -level))
    above = next((level for level in levels if level > best), None)
    if above is not None and served[above] * (1 + gain) < served[best] and (middle := _middle(best, above)):
        return middle
    found = knee(served, gain)
    below = max((level for level in levels if level < found), default=None)
    return None if below is None else _middle(below, found)


def between_rates(kept_up: Mapping[float, bool]) -> float | None:
    """The rate to offer next: between the highest that was kept up with below the least that was not; else None."""
    missed = [rate for rate, kept in kept_up.items() if not kept]
    if not missed:
        return None
    high = min(missed)
    below = [rate for rate, kept in kept_up.items() if kept and rate < high]
    if not below or high / max(below) <= FINEST:
        return None
    return float(f"{math.sqrt(high * max(below)):.3g}")


def _middle(low: float, high: float) -> int | None:
    """The whole number in the middle of two; None where there is none between them."""
    middle = round((low + high) / 2)
    return middle if low < middle < high else None
