"""Scales: the mapping from values to coordinates, and the positions of ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

LOGARITHMIC_RATIO = 20.0
"""Ratio of the largest to the smallest time above which a time scale is logarithmic."""

TICK_STEPS = (1, 2, 5, 10)


class Scale(NamedTuple):
    """A linear (or logarithmic) mapping of values `low` to `high` to coordinates `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    is_logarithmic: bool = False

    def coordinate(self, value: float) -> float:
        """Return the coordinate of a value. A value outside the scale is placed at the nearer end."""
        value = min(max(value, self.low), self.high)
        if self.is_logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return round values between `low` and `high`, about four to eight."""
        return list(_log_ticks(self.low, self.high) if self.is_logarithmic else _ticks(self.low, self.high))


def _ticks(low: float, high: float) -> Iterable[float]:
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in TICK_STEPS if one * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = TICK_STEPS[:3] if len(powers) <= 4 else TICK_STEPS[:1]
    return [value for power in powers for step in steps if low <= (value := step * 10.0**power) <= high]


def time_scale(values: Iterable[float], start: float, end: float) -> Scale:
    """Return a scale for times: from 0, or logarithmic if they span more than a factor of `LOGARITHMIC_RATIO`."""
    known = [value for value in values if value > 0]
    high = max(known, default=1.0)
    low = min(known, default=0.1)
    if high / low > LOGARITHMIC_RATIO:
        return Scale(low / 1.1, high * 1.1, start, end, is_logarithmic=True)
    return Scale(0.0, high * 1.04, start, end)


def score_scale(values: Iterable[float], start: float, end: float) -> Scale:
    """Return a scale for scores: 0 to 1 if all are in this range, else one that covers all scores and 0."""
    known = list(values)
    low, high = min([0.0, *known]), max([0.0, *known])
    if low >= 0 and high <= 1:
        return Scale(0.0, 1.0, start, end)
    room = (high - low) * 0.04
    return Scale(low - room if low < 0 else 0.0, high + room, start, end)


def zoomed_scale(values: Iterable[float], start: float, end: float) -> Scale:
    """Return a scale slightly wider than the range of the values, but within 0 to 1 if all values are."""
    known = list(values)
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = (high - low) * 0.06 or abs(high) * 0.06 or 0.5
    if low >= 0 and high <= 1:
        return Scale(max(0.0, low - room), min(1.0, high + room), start, end)
    return Scale(low - room, high + room, start, end)


def time_label(seconds: float) -> str:
    """Format a tick of a time axis: 50 ms, 2 s, 5 min."""
    if seconds == 0:
        return "0"
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"


def score_label(value: float) -> str:
    """Format a tick of a score axis."""
    return f"{value:.4g}"


def amount_label(value: float) -> str:
    """Format a tick of an axis of amounts: tokens, cost, answers per second."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
