"""Energy of a level, computed from power readings of the devices that serve the model and the rates of the
level's window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from benchwright.analysis.load.figure_records import Energy
from benchwright.analysis.load.records import LevelResult
from benchwright.endpoint.power import PowerReading
from benchwright.statistic import is_number
from benchwright.stats.integrals import growth_between, mean_between

MAX_READING_GAP_SECONDS = 3.0
"""Longest time in seconds between two readings for which the energy is still known (the rule of InferenceX)."""


def energy_of(result: LevelResult, readings: Sequence[PowerReading], began_at: int) -> Energy | None:
    """Return the energy over the level's window. Return None without readings.

    `began_at` is the start of the level in wall-clock ns. From readings of the power, the energy is
    integrated by the trapezoidal rule. From energy counters, it is the difference of two readings. Both kinds
    of readings are interpolated at the ends of the window. If the last reading is a little before the end of
    the window, the energy is the energy up to this reading. A reading in which no device has a new value is
    ignored, because exporters renew values at their own pace.
    """
    if not readings or not result.seconds:
        return None
    by: Literal["counters", "readings"] = "counters" if all(one.joules for one in readings) else "readings"
    fresh = list(_fresh(readings, by))
    devices = _values(fresh[0], by)
    begin = began_at + round(result.begin * 1e9)
    end = begin + round(result.seconds * 1e9)
    if (why := _invalid(fresh, by, begin, end)) is not None:
        return Energy(len(devices), by, invalid=why)
    times = [(one.at - begin) / 1e9 for one in fresh]
    mean = growth_between if by == "counters" else mean_between
    until = min(result.seconds, times[-1])
    watts = sum(mean(times, [_values(one, by)[name] for one in fresh], 0.0, until) for name in devices)
    answers = None if result.achieved is None else result.achieved.value
    accuracy = (
        None if result.judged is None or not is_number(result.judged.accuracy) else result.judged.accuracy
    )
    prompts, written = (
        None if rate is None or result.tokens_told < 1 else rate.value
        for rate in (result.input_tokens, result.output_tokens)
    )
    return Energy(
        devices=len(devices),
        by=by,
        watts=watts,
        request=_each(watts, answers),
        token=_each(watts, None if prompts is None or written is None else prompts + written),
        output_token=_each(watts, written),
        correct=_each(watts, None if answers is None or accuracy is None else answers * accuracy),
    )


def _values(reading: PowerReading, by: str) -> dict[str, float]:
    return reading.joules if by == "counters" else reading.watts


def _fresh(readings: Sequence[PowerReading], by: str) -> Iterator[PowerReading]:
    """Yield the readings. A reading that only repeats the values of the previous one is left out."""
    yield readings[0]
    for before, one in pairwise(readings):
        if _values(one, by) != _values(before, by):
            yield one


def _invalid(fresh: Sequence[PowerReading], by: str, begin: int, end: int) -> str | None:
    """Return the reason why the energy of the window is unknown; None if it is known."""
    if any(_values(one, by).keys() != _values(fresh[0], by).keys() for one in fresh):
        return "not all devices reported all the time"
    if fresh[0].at > begin or fresh[-1].at < end - min(MAX_READING_GAP_SECONDS * 1e9, (end - begin) / 2):
        return "the devices reported nothing new for a part of the window"
    inside = [one.at for one in fresh if one.at < end] + [end]
    gaps = [(after - max(before, begin)) / 1e9 for before, after in pairwise(inside) if after > begin]
    if max(gaps, default=0.0) > MAX_READING_GAP_SECONDS:
        return f"the devices reported only every {max(gaps):.0f} s: let the exporter collect each second"
    if by == "counters" and any(
        after.joules[name] < before.joules[name]
        for before, after in pairwise(fresh)
        for name in before.joules
    ):
        return "an energy counter fell: a driver was loaded anew"
    return None


def _each(watts: float, rate: float | None) -> float | None:
    """Return the joules per item at this number of items per second. None without a rate."""
    return watts / rate if rate else None
